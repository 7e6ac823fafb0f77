import { expect, test } from 'vitest';
import { readPortLine } from './port-lines.ts';

const origin = { address: '192.0.2.1', port: 22, weight: 10, backup: false, enabled: true };

test('a line is a port and where it leads', () => {
  expect(readPortLine('8022 192.0.2.1:22')).toMatchObject({
    forward: { port: 8022, protocol: 'tcp', enabled: true, memo: '', method: 'roundRobin', upstreams: [origin] },
  });
});

test('a line says all that a forward is', () => {
  const line =
    ' 9000/tcp [2001:db8::1]:9000*70 backend.example.com:9000!backup 192.0.2.1:22!off proxy=both off # games # eu ';
  expect(readPortLine(line)).toMatchObject({
    forward: {
      port: 9000,
      enabled: false,
      acceptProxy: true,
      sendProxy: true,
      memo: 'games # eu',
      upstreams: [
        { address: '2001:db8::1', port: 9000, weight: 70, backup: false },
        { address: 'backend.example.com', backup: true },
        { ...origin, enabled: false },
      ],
    },
  });
  expect(readPortLine('5353/udp 192.0.2.1:53 method=leastConnections')).toMatchObject({
    forward: { protocol: 'udp', method: 'leastConnections' },
  });
});

test.each([
  ['', 'port'],
  ['ssh 192.0.2.1:22', 'port'],
  ['999 192.0.2.1:22', 'port'],
  ['3306 192.0.2.1:22', 'port'],
  ['61050 192.0.2.1:22', 'port'],
  ['8022/sctp 192.0.2.1:22', 'port'],
  ['8022', 'noOrigin'],
  ['8022 192.0.2.1:22!off', 'noOrigin'],
  ['8022 192.0.2.1:0', 'origin'],
  ['8022 2001:db8::1:22', 'origin'],
  ['8022 192.0.2.1:22*101', 'origin'],
  ['8022 $host:22', 'origin'],
  ['8022 192.0.2.1:22;', 'origin'],
  ['8022 192.0.2.1', 'origin'],
  ['8022 192.0.2.1:22 proxy=yes', 'option'],
  ['8022 192.0.2.1:22 constructor', 'origin'],
  ['8022/udp 192.0.2.1:22 proxy=send', 'option'],
  ['8022 192.0.2.1:22 192.0.2.2:22!backup method=addressHash', 'option'],
  ['8022 192.0.2.1:22 192.0.2.1:22', 'twice'],
  [`8022 192.0.2.1:22 # ${'x'.repeat(300)}`, 'memo'],
])('%j is refused for its %s', (line, fault) => expect(readPortLine(line)).toMatchObject({ fault }));
