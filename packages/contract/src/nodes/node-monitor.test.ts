import { expect, test } from 'vitest';
import { NodesMonitorInput } from './nodes.ts';

const ids = ['0190c2d0-0000-7000-8000-000000000001'];
const settings = { ids, enabled: true, type: 1, url: null, port: 80, content: null, interval: 30, failAction: 'none' };
const isAccepted = (overrides: object) => NodesMonitorInput.safeParse({ ...settings, ...overrides }).success;

test('a node monitor takes only settings that monitors can check', () => {
  expect(isAccepted({ host: 'www.example.com:8080', tlsName: 'www.example.com', status: 204 })).toBe(true);
  expect(isAccepted({ host: '192.0.2.1' })).toBe(true);
  for (const host of ['1.2.3.4.5', '999.1.1.1', 'a.b.1', 'a:99999']) expect(isAccepted({ host }), host).toBe(false);
  // Informational responses are not final.
  expect(isAccepted({ status: 101 })).toBe(false);
  // A TLS name has no port.
  expect(isAccepted({ tlsName: 'www.example.com:443' })).toBe(false);
  // Every response contains the empty text.
  for (const content of [null, '']) expect(isAccepted({ type: 2, content })).toBe(false);
  expect(isAccepted({ type: 2, content: 'ok' })).toBe(true);
});
