import { expect, test } from 'vitest';
import { ConfigDraft, contentIn, settingsIn } from './zone-settings.ts';

test('what was stored before there was a setting, or a field of one, has the usual one in its place', () => {
  const usual = settingsIn({});
  expect(settingsIn({ http2: false })).toEqual({ ...usual, http2: false });
  for (const [part, own] of [
    ['resource', { workerProcesses: 3 }],
    ['nginx', { enable: true }],
    ['firewall', { synProtection: true }],
    ['antiCC', { mode: 3 }],
    ['ipset', { max: 500 }],
    ['visitorAddress', { proxy: 'cloudflare' }],
  ] as const)
    expect(settingsIn({ [part]: own })).toEqual({ ...usual, [part]: { ...usual[part], ...own } });
  const version = { forceSSLRedirectCode: 301, ports: [] };
  expect(contentIn({ ...version, antiCC: { enabled: true } })).toEqual({
    ...usual,
    ...version,
    antiCC: { ...usual.antiCC, enabled: true },
  });
});

// Regression: the paths of a new version were validated by stricter rules when they were read, and the zone could
// neither be shown nor published.
test('exempt paths that an earlier version stored are read as they are', () => {
  const paths = ['/api/*', '//x', '/%zz'];
  expect(settingsIn({ antiCC: { paths } }).antiCC.paths).toEqual(paths);
  expect(ConfigDraft.safeParse({ antiCC: { ...settingsIn({}).antiCC, paths } }).success).toBe(false);
});

test('stored ports with PROXY protocol are read only with a trusted proxy', () => {
  const portsWith = (proxy: string) =>
    settingsIn({ visitorAddress: { proxy, networks: ['192.0.2.0/24'], proxyProtocolPorts: [443] } }).visitorAddress
      .proxyProtocolPorts;
  expect(['none', 'cloudflare', 'custom'].map(portsWith)).toEqual([[], [443], [443]]);
});
