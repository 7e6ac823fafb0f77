// Visitors behind proxies that the zone trusts: their address is in a header field.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { preheat } from '@edgeloom/agent/link/preheat.ts';
import { readZoneKeys } from '@edgeloom/agent/store/zone-keys.ts';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { rule, startEdge, zoneDoc, type Edge } from '../support/services/edge.ts';
import { freePorts } from '../support/services/ports.ts';

const proxies = ['127.0.5.0/24', '10.0.0.0/8'];
const [PROXY, STRANGER, VISITOR] = ['127.0.5.1', '127.0.6.1', '203.0.113.9'];
const firewall = {
  level: 0,
  whitelist: [],
  blacklist: ['198.51.100.0/24', '127.0.5.0/24', '10.9.0.0/16'],
  synProtection: false,
} as const;

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
  await serveWith('X-Forwarded-For');
});
afterAll(() => edge.stop());

async function serveWith(header: string, ports: ZoneDoc['ports'] = zoneDoc(edge.ports).ports) {
  const over: Partial<ZoneDoc> = {
    firewall: { ...firewall, whitelist: [...firewall.whitelist], blacklist: [...firewall.blacklist] },
    ipset: { timeout: 600, max: 1000 },
    visitorAddress: { networks: proxies, header },
    ports,
  };
  const zone = zoneDoc(edge.ports, over);
  await edge.put(zone);
  await edge.render(zone);
  await edge.reload();
}

const visit = (from: string, host: string, headers: Record<string, string | string[]>, path = '/') =>
  statusFrom(from, edge.ports.http, host, '127.0.0.1', headers, path);

/** The request's address fields and path at the origin. */
async function received(from: string, headers: Record<string, string | string[]>) {
  const { name } = await edge.site();
  const path = `/${randomUUID()}`;
  expect(await visit(from, name, headers, path)).toBe(200);
  const [asked] = edge.origin.asked(path);
  return { address: asked?.headers['x-real-ip'], chain: asked?.headers['x-forwarded-for'], path };
}
const addressFrom = async (from: string, headers: Record<string, string | string[]>) =>
  (await received(from, headers)).address;

test('the origin and the log receive the address that a trusted proxy names, and not one from elsewhere', async () => {
  const trusted = await received(PROXY, { 'x-forwarded-for': VISITOR });
  expect(trusted).toMatchObject({ address: VISITOR, chain: `${VISITOR}, ${VISITOR}` });
  const other = await received(STRANGER, { 'x-forwarded-for': VISITOR });
  expect(other).toMatchObject({ address: STRANGER, chain: `${VISITOR}, ${STRANGER}` });
  await eventually(async () => {
    const rows = await edge.log();
    const logged = ({ path }: { path: string }) => rows.find(({ uri }) => uri === path)?.['address'];
    expect([logged(trusted), logged(other)]).toEqual([VISITOR, STRANGER]);
  });
});

test('X-Forwarded-For is read from the right, without trusted addresses, up to the first that is none', async () => {
  const addresses = [
    // The visitor wrote the left part.
    '192.0.2.66, 203.0.113.9',
    '192.0.2.66, 203.0.113.9, 10.1.2.3, 10.4.5.6',
    '127.0.0.1,203.0.113.9',
    '2001:db8::7',
    '203.0.113.9:4711',
    'unknown, 203.0.113.9, 10.1.2.3',
  ];
  const found = [];
  for (const text of addresses) found.push(await addressFrom(PROXY, { 'x-forwarded-for': text }));
  expect(found).toEqual([VISITOR, VISITOR, VISITOR, '2001:db8::7', VISITOR, VISITOR]);
  // Several lines are one list.
  expect(await addressFrom(PROXY, { 'x-forwarded-for': ['192.0.2.66', VISITOR] })).toBe(VISITOR);
  // Without an address the proxy is the visitor.
  for (const text of ['', 'unknown', '999.1.1.1', '203.0.113.9, <script>', 'unix:/run/x', '203.0.113', ',', '"'])
    expect(await addressFrom(PROXY, { 'x-forwarded-for': text })).toBe(PROXY);
  expect(await addressFrom(PROXY, {})).toBe(PROXY);
});

test('lists, limits and blocks apply to the visitor, and the response is a 403 that does not close the connection', async () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const black = listDoc({ id: randomUUID(), value: ['192.0.2.0/24'], expires: [] });
  await edge.put(black);
  const frequency = {
    id: randomUUID(),
    urlRegex: '',
    type: 1,
    header: '',
    status: 929,
    monitor: false,
    seconds: 3600,
    times: 2,
  } as const;
  const { name } = await edge.site({ lists: [{ id: black.id, isBlack: true }], frequencies: [frequency] });
  expect(await visit(PROXY, name, from('192.0.2.1'))).toBe(403);
  const counted = [];
  for (let i = 0; i < 3; i += 1) counted.push(await visit(PROXY, name, from(VISITOR)));
  expect(counted).toEqual([200, 200, 929]);
  expect(await visit(PROXY, name, from('203.0.113.10'))).toBe(200);

  // The zone's block list: the kernel sees proxies only. They are never blocked, although this one is listed.
  const other = await edge.site();
  expect(await visit(PROXY, other.name, from('198.51.100.7'))).toBe(403);
  expect(await visit(PROXY, other.name, {})).toBe(200);
  // A visitor's address may lie in a trusted network, as with Cloudflare WARP.
  expect(await visit(PROXY, other.name, from('10.9.0.1'))).toBe(403);
  // The block set.
  await edge.admin.changeBlocks([
    ['203.0.113.77', 60, 'antiCC'],
    [PROXY, 60, 'antiCC'],
  ]);
  expect(await visit(PROXY, other.name, from('203.0.113.77'))).toBe(403);
  expect(await visit(PROXY, other.name, from(VISITOR))).toBe(200);
  expect(await visit(PROXY, other.name, {})).toBe(200);
  // From elsewhere the field neither blocks nor exempts.
  expect(await visit(STRANGER, other.name, from('203.0.113.77'))).toBe(200);
  await edge.admin.changeBlocks([[STRANGER, 60, 'antiCC']]);
  expect(await visit(STRANGER, other.name, from('10.0.0.1'))).toBe('closed');
  await edge.admin.changeBlocks([[STRANGER, 0, '']]);
  await eventually(async () => {
    const rows = await edge.log();
    const causes = rows.filter(({ host, status }) => host === other.name && status === 403).map(({ cause }) => cause);
    expect(causes.toSorted()).toEqual(['antiCC', 'blacklist', 'blacklist']);
  });
});

test('a field of any name holds the address', async () => {
  await serveWith('CF-Connecting-IP');
  expect(await addressFrom(PROXY, { 'cf-connecting-ip': VISITOR, 'x-forwarded-for': '192.0.2.66' })).toBe(VISITOR);
  expect(await addressFrom(PROXY, { 'x-forwarded-for': '192.0.2.66' })).toBe(PROXY);
  expect(await addressFrom(STRANGER, { 'cf-connecting-ip': VISITOR })).toBe(STRANGER);
});

describe('on ports with PROXY protocol', () => {
  /** Beside the port without TLS, which keeps its header field. */
  let plain = 0;
  beforeAll(async () => {
    plain = (await freePorts(1))[0] ?? 0;
    await serveWith('X-Forwarded-For', [
      { port: edge.ports.http, tls: false },
      { port: edge.ports.https, tls: true, proxyProtocol: true },
      { port: plain, tls: false, proxyProtocol: true },
    ]);
  });

  const nameOf = (address: string) => `PROXY TCP4 ${address} 127.0.0.1 4711 80\r\n`;
  const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
  const bytesOf = (address: string) => Buffer.from(address.split('.').map(Number));
  /** Version 2, which has a command without addresses, for health checks. */
  const binaryNameOf = (address: string) =>
    Buffer.concat([SIGNATURE, Buffer.from('2111000c', 'hex'), bytesOf(address), bytesOf('127.0.0.1'), Buffer.alloc(4)]);
  const LOCAL = Buffer.concat([SIGNATURE, Buffer.from('20000000', 'hex')]);

  function connectFrom(from: string, port: number, header: string | Buffer): Socket {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from });
    socket.write(header);
    return socket;
  }
  const secured = (socket: Socket, servername: string, protocol: string) =>
    connectTls({ socket, servername, ALPNProtocols: [protocol], rejectUnauthorized: false });

  const statusOver = (connection: Duplex, host: string, at: string, headers = {}) =>
    new Promise<number | 'closed'>((resolve) => {
      const asked = request({ createConnection: () => connection, path: at, headers: { host, ...headers } });
      asked.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
      asked.on('error', () => resolve('closed'));
      asked.end();
    });

  /** The same for a request over a connection with this PROXY header. */
  async function receivedOver(from: string, header: string | Buffer, headers: Record<string, string> = {}) {
    const { name } = await edge.site();
    const at = `/${randomUUID()}`;
    expect(await statusOver(connectFrom(from, plain, header), name, at, headers)).toBe(200);
    const [asked] = edge.origin.asked(at);
    return { address: asked?.headers['x-real-ip'], chain: asked?.headers['x-forwarded-for'], path: at };
  }

  test('a trusted proxy names the visitor in its PROXY header, and neither a field nor another sender does', async () => {
    const named = await receivedOver(PROXY, nameOf(VISITOR), { 'x-forwarded-for': '192.0.2.66' });
    expect(named).toMatchObject({ address: VISITOR, chain: `192.0.2.66, ${VISITOR}` });
    const binary = await receivedOver(PROXY, binaryNameOf(VISITOR));
    expect(binary).toMatchObject({ address: VISITOR, chain: VISITOR });
    expect((await receivedOver(PROXY, 'PROXY TCP6 2001:db8::7 ::1 4711 80\r\n')).address).toBe('2001:db8::7');
    // Health checks of a proxy name nobody.
    for (const header of ['PROXY UNKNOWN\r\n', LOCAL]) expect((await receivedOver(PROXY, header)).address).toBe(PROXY);
    const other = await receivedOver(STRANGER, nameOf(VISITOR), { 'x-forwarded-for': VISITOR });
    expect(other).toMatchObject({ address: STRANGER, chain: `${VISITOR}, ${STRANGER}` });
    await eventually(async () => {
      const rows = await edge.log();
      const logged = [named, binary, other].map((each) => rows.find(({ uri }) => uri === each.path)?.['address']);
      expect(logged).toEqual([VISITOR, VISITOR, STRANGER]);
    });
    // The other port of the zone.
    expect(await addressFrom(PROXY, { 'x-forwarded-for': VISITOR })).toBe(VISITOR);
  });

  test('a visitor without a PROXY header gets no response', async () => {
    const { name } = await edge.site();
    const asked = `GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    for (const from of [PROXY, STRANGER]) expect(await textOf(connectFrom(from, plain, asked))).toBe('');
    const secure = secured(connectFrom(PROXY, edge.ports.https, ''), name, 'http/1.1');
    const isSecured = new Promise((resolve) => {
      secure.once('secureConnect', () => resolve(true));
      secure.once('error', () => resolve(false));
    });
    expect(await isSecured).toBe(false);
  });

  test('TLS and HTTP/2 follow the PROXY header, and rules apply to the visitor', async () => {
    const { name } = await edge.site();
    const at = `/${randomUUID()}`;
    const tls = secured(connectFrom(PROXY, edge.ports.https, binaryNameOf(VISITOR)), name, 'http/1.1');
    expect(await statusOver(tls, name, at)).toBe(200);
    const session = connectHttp2(`https://${name}`, {
      createConnection: () => secured(connectFrom(PROXY, edge.ports.https, nameOf(VISITOR)), name, 'h2'),
    });
    const stream = session.request({ ':path': at });
    const [{ ':status': status, 'alt-svc': alternative }] = await once(stream, 'response');
    session.destroy();
    expect([status, alternative]).toEqual([200, undefined]);
    expect(edge.origin.asked(at).map(({ headers }) => headers['x-real-ip'])).toEqual([VISITOR, VISITOR]);
    // The zone's block list.
    const blocked = connectFrom(PROXY, plain, nameOf('198.51.100.7'));
    expect(await statusOver(blocked, name, '/')).toBe(403);
  });

  test('the node prefetches through its own ports', async () => {
    const { name } = await edge.site({ cacheRules: [rule()] });
    const urls = [`http://${name}:${plain}/a`, `https://${name}:${edge.ports.https}/b`];
    const key = (await readZoneKeys(join(edge.dir, 'keys')))[0]?.key ?? Buffer.alloc(0);
    const nginx = { address: '127.0.0.1', proxyProtocolPorts: [plain, edge.ports.https] };
    expect(await preheat(nginx, urls, 10_000, key)).toEqual({ fetched: 2, error: null });
  });
});
