import type { PortDoc } from '@edgeloom/contract/edge/documents.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forwardsConf } from './stream-conf.ts';
import type { Forward, ForwardOrigin, ForwardsInput } from './stream-conf.ts';

const id = (last: number) => `01980000-0000-7000-8000-${String(last).padStart(12, '0')}`;
const origin = (address: string, over: Partial<ForwardOrigin> = {}): ForwardOrigin => ({
  address,
  port: 9000,
  weight: 1,
  backup: false,
  ...over,
});
const forward = (port: number, over: Partial<PortDoc> = {}, origins = [origin('192.0.2.1')]): Forward => ({
  port: {
    kind: 'port',
    id: id(port),
    siteID: id(1),
    port,
    protocol: 'tcp',
    acceptProxy: false,
    sendProxy: false,
    method: 'roundRobin',
    maxFails: 3,
    failTimeoutSeconds: 10,
    connectTimeoutSeconds: 5,
    idleTimeoutSeconds: 600,
    upstreams: [],
    ...over,
  },
  origins,
});

const input = (forwards: Forward[]): ForwardsInput => ({
  forwards,
  worker: { processes: 4, connections: 16_384 },
  snippets: new Map(),
  generation: 3,
  host: {
    dir: '/var/lib/edgeloom',
    luaDir: '/opt/edgeloom/lua',
    listen: ['0.0.0.0', '[::]'],
    user: 'www-data',
    capabilities: {
      version: '1.22.1',
      openresty: false,
      modules: ['/usr/lib/nginx/modules/ngx_http_lua_module.so', '/usr/lib/nginx/modules/ngx_stream_module.so'],
      lua: true,
      stream: true,
      streamRealip: true,
      realip: true,
      brotli: false,
      webp: false,
      slice: true,
      geoip2: false,
      http2: 'listen',
      http3: false,
      minFree: true,
      poolPerName: false,
    },
    resolvers: ['127.0.0.53'],
    caBundle: null,
  },
  dir: '/var/lib/edgeloom/forwards',
});

const all = [
  forward(5432, { acceptProxy: true, sendProxy: true, method: 'leastConnections' }, [
    origin('192.0.2.1', { weight: 3 }),
    origin('[2001:db8::1]', { backup: true }),
  ]),
  forward(5432, { id: id(2), protocol: 'udp', acceptProxy: true, sendProxy: true }),
  forward(2000, { method: 'addressHash', maxFails: 0 }, [
    origin('192.0.2.1', { weight: 100 }),
    origin('192.0.2.2', { weight: 50 }),
    origin('192.0.2.3', { backup: true }),
  ]),
  forward(2001, {}, []),
  forward(2002, {}, [origin('192.0.2.3', { backup: true })]),
  forward(2003, { limitConn: 20 }),
  forward(2004, { limitConn: 20, protocol: 'udp' }),
  forward(2005, { limitConn: 2_000_000 }),
];

test('the second nginx is as it was', async () => {
  await expect(forwardsConf(input(all)).text).toMatchFileSnapshot('__golden__/forwards/nginx.conf');
});

test('one that reads no PROXY headers, is not started as root and forwards nothing yet is as it was', async () => {
  const { host, ...rest } = input([]);
  const capabilities = { ...host.capabilities, modules: [], streamRealip: false };
  await expect(forwardsConf({ ...rest, host: { ...host, user: null, capabilities } }).text).toMatchFileSnapshot(
    '__golden__/forwards-none/nginx.conf',
  );
});

// Regression: nginx refused all forwards of a node with 16 processes of 16,384 connections.
test('no connection limit is above what nginx accepts', () => {
  const { text } = forwardsConf({ ...input(all), worker: { processes: 64, connections: 65_536 } });
  const limits = Array.from(text.matchAll(/limit_conn \w+ (\d+);/g), ([, limit]) => Number(limit));
  expect(limits).toEqual(Array.from({ length: 2 + 3 + 3 }, (_, i) => (i === 4 ? 20 : 65_535)));
});

test('forwards are in one order, whatever order they came in', () => {
  expect(forwardsConf(input(all.toReversed())).text).toBe(forwardsConf(input(all)).text);
});

test('weights of a hash stay in proportion, and small: each unit costs nginx 160 points', () => {
  const weights = (given: number[]) => {
    const origins = given.map((weight) => origin('192.0.2.1', { weight }));
    const { text } = forwardsConf(input([forward(2000, { method: 'addressHash' }, origins)]));
    return Array.from(text.matchAll(/weight=(\d+)/g), ([, weight]) => Number(weight));
  };
  expect(weights([100, 50])).toEqual([2, 1]);
  expect(weights([100, 99])).toEqual([16, 16]);
  expect(weights([100, 1])).toEqual([32, 1]);
  expect(weights([7, 7, 7])).toEqual([1, 1, 1]);
});

describe('no text changes the structure', () => {
  const structure = (text: string) => text.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, '§');
  const usual = structure(forwardsConf(input([forward(2000)])).text);
  test('of a forward', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('"; } server { listen 1; ', '$remote_addr', '\\', '\\"', '\n}', '#', '}', ' ', ''),
    );
    const property = fc.property(hostile, hostile, hostile, (site, port, address) => {
      try {
        const made = forward(2000, { id: port, siteID: site }, [origin(address)]);
        return structure(forwardsConf(input([made])).text) === usual;
      } catch {
        // Refused is as good.
        return true;
      }
    });
    expect(fc.check(property)).toMatchObject({ failed: false });
  });
});
