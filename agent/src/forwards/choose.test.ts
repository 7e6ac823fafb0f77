import type { PortDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { expect, test } from 'vitest';
import { choose, namesIn } from './choose.ts';
import { defaultPace, reloadPauseMs } from './forwards.ts';

const id = (last: number) => `01980000-0000-7000-8000-${String(last).padStart(12, '0')}`;
const zone: ZoneDoc = {
  kind: 'zone',
  id: id(0),
  ports: [{ port: 8443, tls: true }],
  http2: true,
  tlsProtocols: ['TLSv1.3'],
  worker: { processes: 0, connections: 1024 },
  cache: { maxBytes: 0, keyBytes: 0, inactiveSeconds: 60 },
  maxBodyBytes: 0,
  originPolicy: { deny: ['10.0.0.0/8', '::ffff:10.0.0.0/104', 'fd00::/8'], allow: ['10.1.0.0/16'] },
};
const origin = (address: string) => ({ id: id(9), address, port: 80, weight: 1, backup: false });
const port = (n: number, over: Partial<PortDoc> = {}): PortDoc => ({
  kind: 'port',
  id: id(n),
  siteID: id(1),
  port: 5000,
  protocol: 'tcp',
  acceptProxy: false,
  sendProxy: false,
  method: 'roundRobin',
  maxFails: 1,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 5,
  idleTimeoutSeconds: 60,
  upstreams: [origin('192.0.2.1')],
  ...over,
});
const facts = {
  zone,
  addressesOf: (name: string) => (name === 'known.example.com' ? ['192.0.2.9', 'fd00::1', '2001:db8::1'] : []),
  capabilities: { streamRealip: true, http3: false },
};
const addresses = (doc: PortDoc) => choose([doc], facts).forwards[0]?.origins.map(({ address }) => address);

test('a name stands for all its addresses that the zone allows', () => {
  expect(addresses(port(1, { upstreams: [origin('known.example.com')] }))).toEqual(['192.0.2.9', '[2001:db8::1]']);
  expect(addresses(port(1, { upstreams: [origin('unknown.example.com'), origin('2001:db8::2')] }))).toEqual([
    '[2001:db8::2]',
  ]);
});

test.each(['10.2.3.4', 'fd00::2', '::ffff:10.2.3.4', '::ffff:a02:304', 'fe80::1%eth0'])(
  'the address %s is left out',
  (address) => {
    expect(addresses(port(1, { upstreams: [origin(address)] }))).toEqual([]);
  },
);

test('an exception of the operator is kept', () => {
  expect(addresses(port(1, { upstreams: [origin('10.1.2.3')] }))).toEqual(['10.1.2.3']);
});

test('of two forwards of one port the older one stays, and TCP and UDP are two ports', () => {
  const docs = [port(3), port(2), port(4, { protocol: 'udp' }), port(5, { port: 8443 })];
  const { forwards, leftOut } = choose(docs, facts);
  expect(forwards.map((forward) => forward.port.id)).toEqual([id(2), id(4)]);
  expect(leftOut).toHaveLength(2);
});

test("the ports of HTTP/3 are the zone's by UDP as well", () => {
  const docs = [port(2, { port: 8443, protocol: 'udp' })];
  expect(choose(docs, facts).forwards).toHaveLength(1);
  const quic = { ...facts, zone: { ...zone, http3: true }, capabilities: { streamRealip: true, http3: true } };
  expect(choose(docs, quic).forwards).toEqual([]);
});

test('names are what origins are called that is no address', () => {
  expect(namesIn([port(1, { upstreams: [origin('a.example.com'), origin('::1'), origin('192.0.2.1')] })])).toEqual(
    new Set(['a.example.com']),
  );
});

// Regression: with sessions on four workers, the second change waited for 25 seconds.
test('a reload waits for a second, and longer once workers of two generations drain', () => {
  const pause = (draining: number, serving: number) => reloadPauseMs({ draining, serving }, defaultPace);
  expect([pause(0, 4), pause(4, 4)]).toEqual([1000, 1000]);
  expect([pause(5, 4), pause(14, 4), pause(1000, 4)]).toEqual([6000, 51_000, 300_000]);
});
