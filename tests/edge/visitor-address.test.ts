// Visitors behind proxies that the zone trusts: their address is in a header field.
import { randomUUID } from 'node:crypto';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { startEdge, zoneDoc, type Edge } from '../support/services/edge.ts';

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

async function serveWith(header: string) {
  const over: Partial<ZoneDoc> = {
    firewall: { ...firewall, whitelist: [...firewall.whitelist], blacklist: [...firewall.blacklist] },
    ipset: { timeout: 600, max: 1000 },
    visitorAddress: { networks: proxies, header },
  };
  const zone = zoneDoc(edge.ports, over);
  await edge.put(zone);
  await edge.render(zone);
  await edge.reload();
}

const visit = (from: string, host: string, headers: Record<string, string | string[]>, path = '/') =>
  statusFrom(from, edge.ports.http, host, '127.0.0.1', headers, path);

/** What the origin receives of a request. */
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
    expect(causes).toEqual(['blacklist', 'blacklist', 'antiCC']);
  });
});

test('a field of any name holds the address', async () => {
  await serveWith('CF-Connecting-IP');
  expect(await addressFrom(PROXY, { 'cf-connecting-ip': VISITOR, 'x-forwarded-for': '192.0.2.66' })).toBe(VISITOR);
  expect(await addressFrom(PROXY, { 'x-forwarded-for': '192.0.2.66' })).toBe(PROXY);
  expect(await addressFrom(STRANGER, { 'cf-connecting-ip': VISITOR })).toBe(STRANGER);
});
