import { expect, test } from 'vitest';
import { contentIn, settingsIn } from './zone-settings.ts';

test('what was stored before there was a setting, or a field of one, has the usual one in its place', () => {
  const usual = settingsIn({});
  expect(settingsIn({ http2: false })).toEqual({ ...usual, http2: false });
  for (const [part, own] of [
    ['resource', { workerProcesses: 3 }],
    ['nginx', { enable: true }],
    ['firewall', { synProtection: true }],
    ['antiCC', { mode: 3 }],
    ['ipset', { max: 500 }],
  ] as const)
    expect(settingsIn({ [part]: own })).toEqual({ ...usual, [part]: { ...usual[part], ...own } });
  const version = { forceSSLRedirectCode: 301, ports: [] };
  expect(contentIn({ ...version, antiCC: { enabled: true } })).toEqual({
    ...usual,
    ...version,
    antiCC: { ...usual.antiCC, enabled: true },
  });
});
