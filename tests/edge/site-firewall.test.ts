// A site's own firewall, by visitors from several addresses, and by simulated visitors from any address.
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createReplays } from '@edgeloom/agent/nginx/replay.ts';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import type { PackDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { encodeGeoPack } from '@edgeloom/contract/edge/geo-pack.ts';
import { encodeRiskPack, flattened, networkOf } from '@edgeloom/contract/edge/risk-pack.ts';
import { rangeOf } from '@edgeloom/contract/common/address-ranges.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { startEdge, type Edge } from '../support/services/edge.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({
    // Each worker keeps the lists that it used before.
    zone: {
      worker: { processes: 1, connections: 1024 },
      firewall: { level: 0, whitelist: ['127.0.7.7'], blacklist: [], synProtection: false },
    },
  });
});
afterAll(() => edge.stop());

const visitFrom = (localAddress: string, host: string, headers = {}) =>
  statusFrom(localAddress, edge.ports.http, host, '127.0.0.1', headers);
const list = (ips: string[], expires: Record<string, Date> = {}) =>
  listDoc({
    id: randomUUID(),
    value: ips,
    expires: Object.entries(expires).map(([ip, at]) => ({ ip, at: at.toISOString() })),
  });
type Ref = NonNullable<SiteDoc['lists']>[number];
const ref = ({ id }: { id: string }, over: Partial<Ref> = {}): Ref => ({ id, isBlack: true, ...over });

/** How the site's firewall treats a simulated visitor. */
async function simulateFrom(client: string, host: string, uri = '/') {
  const { steps } = await simulateRequest(edge, host, uri, { ip: client });
  return Object.fromEntries(steps.map(({ step, decision }) => [step, decision]));
}

test('listed addresses, networks and ranges are refused with the rule in the log, and others are not', async () => {
  const black = list(['127.0.5.1', '127.0.6.0/24', '127.0.8.10-127.0.8.20', '127.0.0.1', '127.0.7.0/24']);
  await edge.put(black);
  const { name } = await edge.site({ lists: [ref(black)] });
  const from = [
    '127.0.5.1',
    '127.0.5.2',
    '127.0.6.0',
    '127.0.6.255',
    '127.0.8.9',
    '127.0.8.10',
    '127.0.8.20',
    '127.0.8.21',
  ];
  const answers = await Promise.all(from.map((address) => visitFrom(address, name)));
  expect(answers).toEqual([403, 200, 403, 403, 200, 403, 403, 200]);
  // This machine, and the allow list of the zone.
  expect(await Promise.all(['127.0.0.1', '127.0.7.7'].map((address) => visitFrom(address, name)))).toEqual([200, 200]);
  await eventually(async () => {
    const rows = (await edge.log()).filter((row) => row['host'] === name && row['status'] === 403);
    expect(rows).toHaveLength(5);
    for (const row of rows) expect(row).toMatchObject({ cause: 'blacklist', rule: black.id });
  });
});

test('IPv6, mapped and translated addresses are found; entries that ended are not', async () => {
  const past = new Date(Date.now() - 60_000);
  const black = list(
    [
      '2001:db8:5::/48',
      '::ffff:192.0.2.7',
      '198.51.100.0/24',
      '64:ff9b::203.0.113.0/120',
      '203.0.113.77',
      '2001:db8:9::1-2001:db8:9::f',
    ],
    { '203.0.113.77': past, '198.51.100.0/24': past },
  );
  await edge.put(black);
  const { name } = await edge.site({ lists: [ref(black)] });
  const cases = {
    '2001:db8:5::1': 'refused',
    '2001:db8:5:ffff::1': 'refused',
    '2001:db8:6::1': 'passed',
    '2001:db8:9::f': 'refused',
    '2001:db8:9::10': 'passed',
    '192.0.2.7': 'refused',
    '::ffff:192.0.2.7': 'refused',
    '64:ff9b::c000:207': 'refused',
    '198.51.100.3': 'passed',
    // The network around it holds for ever.
    '203.0.113.77': 'refused',
    '::ffff:203.0.113.77': 'refused',
  };
  for (const [client, decision] of Object.entries(cases))
    expect([client, (await simulateFrom(client, name)).blacklist]).toEqual([client, decision]);
});

test('URLs and methods limit a list, and a monitored list only logs', async () => {
  const black = list(['127.0.5.1']);
  const watched = list(['127.0.5.2']);
  await edge.put(black, watched);
  const { name } = await edge.site({
    lists: [
      ref(black, {
        methods: ['GET'],
        urls: [
          { path: '/admin/', prefix: true },
          { host: 'other.example.com', path: '/', prefix: true },
        ],
      }),
      ref(watched, { monitor: true }),
    ],
  });
  const at = async (uri: string) => (await simulateRequest(edge, name, uri, { ip: '127.0.5.1' })).steps;
  expect((await at('/admin/x')).find(({ step }) => step === 'blacklist')).toMatchObject({ decision: 'refused' });
  expect((await at('/')).find(({ step }) => step === 'blacklist')).toMatchObject({ decision: 'passed' });
  expect(await visitFrom('127.0.5.2', name)).toBe(200);
  await eventually(async () => {
    const [row] = (await edge.log()).filter((one) => one['host'] === name);
    expect(row).toMatchObject({ status: 200, cause: 'blacklist', rule: `monitor/${watched.id}` });
  });
});

test('a monitored white list keeps the note of a monitored black list, which is counted', async () => {
  const [black, white] = [list(['127.0.5.77']), list(['127.0.5.77'])];
  await edge.put(black, white);
  const { name } = await edge.site({
    lists: [ref(black, { monitor: true }), ref(white, { isBlack: false, monitor: true })],
  });
  expect(await visitFrom('127.0.5.77', name)).toBe(200);
  await eventually(async () => {
    const row = (await edge.log()).find(({ host }) => host === name);
    expect(row).toMatchObject({ cause: 'blacklist', rule: `monitor/${black.id}` });
  });
  expect((await edge.counters())['blacklistWatched']).toBeGreaterThan(0);
});

test("a white list skips the site's own rules", async () => {
  const white = list(['127.0.5.0/24']);
  const black = list(['127.0.0.0/8']);
  await edge.put(white, black);
  const { name } = await edge.site({
    lists: [ref(white, { isBlack: false }), ref(black)],
    userAgents: [{ id: randomUUID(), pattern: '.*', blockType: 0 }],
    antiHeaders: [{ id: randomUUID(), name: 'host', operator: 'exists', value: '', action: 'deny' }],
  });
  expect(await visitFrom('127.0.5.9', name)).toBe(200);
  expect(await visitFrom('127.0.4.9', name)).toBe(403);
  // The exemption ends with its request.
  const { name: other } = await edge.site({ userAgents: [{ id: randomUUID(), pattern: '.*', blockType: 0 }] });
  expect(await visitFrom('127.0.5.9', name)).toBe(200);
  expect(await visitFrom('127.0.5.9', other)).toBe(403);
});

test('a list that is not here yet closes a new site, and leaves a known one as it was', async () => {
  const [first, second] = [list(['127.0.5.1']), list(['127.0.5.2'])];
  const { site, name } = await edge.site({ lists: [ref(first)] });
  expect(await visitFrom('127.0.5.3', name)).toBe(503);
  await edge.put(first);
  expect(await visitFrom('127.0.5.3', name)).toBe(200);
  expect(await visitFrom('127.0.5.1', name)).toBe(403);
  await edge.put({ ...site, lists: [ref(first), ref(second)] });
  expect(await visitFrom('127.0.5.1', name)).toBe(403);
  expect(await visitFrom('127.0.5.2', name)).toBe(200);
  await edge.put(second);
  expect(await visitFrom('127.0.5.2', name)).toBe(403);
});

// Once, a simulation took no lists of a draft: a new one was missing, and a changed one was as before.
test('a simulation uses the address lists of its draft, and visitors those in force', async () => {
  const [known, added] = [list(['203.0.113.1']), list(['203.0.113.2'])];
  await edge.put(known);
  const { site, name } = await edge.site({ lists: [ref(known)] });
  const draft = (...drafted: (SiteDoc | ReturnType<typeof list>)[]) =>
    Object.fromEntries(drafted.map((doc) => [`${doc.kind}/${doc.id}`, JSON.stringify(doc)]));
  const withAdded = { ...site, lists: [ref(known), ref(added)] };
  const ask = async (ip: string, docs: Record<string, string>) => {
    const { status, steps } = await simulateRequest(edge, name, '/', { ip, docs });
    return [status, steps.find(({ step }) => step === 'blacklist')?.rule?.id];
  };
  // Visitors have no lists yet in the only worker, then they have.
  for (const visitor of ['before', 'after']) {
    expect(await ask('203.0.113.1', draft(withAdded, added)), visitor).toEqual([403, known.id]);
    expect(await ask('203.0.113.2', draft(withAdded, added)), visitor).toEqual([403, added.id]);
    expect(await ask('203.0.113.2', draft({ ...list(['203.0.113.2']), id: known.id })), visitor).toEqual([
      403,
      known.id,
    ]);
    expect(await ask('203.0.113.1', draft(list(['203.0.113.3']))), visitor).toEqual([403, known.id]);
    expect(await ask('203.0.113.1', draft({ ...site, lists: [] })), visitor).toEqual([200, undefined]);
    expect([await ask('203.0.113.1', {}), await ask('203.0.113.2', {})], visitor).toEqual([
      [403, known.id],
      [200, undefined],
    ]);
    expect(await visitFrom('127.0.5.3', name)).toBe(200);
  }
  const from = (ip: string) => ({
    scheme: 'http' as const,
    port: edge.ports.http,
    method: 'GET',
    host: name,
    path: '/',
    ip,
  });
  const requests = Array.from({ length: 20 }, (_, i) => ({ ...from(`203.0.113.${(i % 4) + 1}`), headers: [] }));
  const replay = createReplays(edge.admin, path.join(edge.dir, 'run/simulate.sock'));
  const results = await replay({ requests, docs: draft(withAdded, added) }, 10_000);
  expect(results.map((result) => result?.end?.rule?.id)).toEqual(
    requests.map((_, i) => [known.id, added.id, undefined, undefined][i % 4]),
  );
});

test('a list that changes under load is never seen in half', async () => {
  const id = randomUUID();
  // Either version refuses exactly one of the two.
  const versions = ['127.0.5.1', '127.0.5.2'].map((own) => ({
    ...list([own, ...Array.from({ length: 4000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/25`)]),
    id,
  }));
  const [a, b] = versions;
  if (!a || !b) throw new Error('two versions');
  await edge.put(a);
  const { name } = await edge.site({ lists: [{ id, isBlack: true }] });
  const seen = new Set<number | string>();
  for (let i = 0; i < 20; i += 1) {
    const visits = Array.from({ length: 10 }, () => visitFrom('127.0.5.3', name));
    await edge.put(i % 2 === 0 ? b : a);
    for (const status of await Promise.all(visits)) seen.add(status);
    const pair = await Promise.all(['127.0.5.1', '127.0.5.2'].map((from) => visitFrom(from, name)));
    expect(pair).toEqual(i % 2 === 0 ? [200, 403] : [403, 200]);
  }
  expect([...seen]).toEqual([200]);
});

test('user agents are refused or challenged by pattern', async () => {
  const [bot, curl] = [randomUUID(), randomUUID()];
  const { name } = await edge.site({
    userAgents: [
      { id: bot, pattern: '^bad', blockType: 0 },
      { id: curl, pattern: 'curl', blockType: 1, url: '^/' },
    ],
  });
  const by = (agent: string) => visitFrom('127.0.5.3', name, { 'user-agent': agent });
  expect([await by('badbot'), await by('my curl'), await by('good')]).toEqual([403, 978, 200]);
  await eventually(async () => {
    const rows = (await edge.log()).filter((row) => row['host'] === name && row['status'] !== 200);
    expect(rows.map(({ cause, rule }) => [cause, rule])).toEqual([
      ['userAgent', bot],
      ['userAgent', curl],
    ]);
  });
});

async function loadRiskPack(scores: Record<string, number>) {
  const networks = Object.entries(scores).map(([network, score]) => ({ ...networkOf(network), score }));
  const file = path.join(edge.dir, 'packs/risk/current/risk.bin');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, encodeRiskPack(flattened(networks)));
  await edge.reload();
}

test('visitors with a risk score from the threshold on are refused, unless they are on an allow list', async () => {
  await loadRiskPack({ '127.0.9.0/24': 50, '127.0.10.0/24': 49, '127.0.11.0/24': 100, '127.0.7.7': 100 });
  const white = list(['127.0.9.9']);
  await edge.put(white);
  const rule = { id: randomUUID(), score: 50, monitor: false } as const;
  const { name } = await edge.site({ abuseIP: rule, lists: [ref(white, { isBlack: false })] });
  const visits = (host: string, from: string[]) => Promise.all(from.map((address) => visitFrom(address, host)));
  expect(await visits(name, ['127.0.9.1', '127.0.10.1', '127.0.11.1', '127.0.12.1'])).toEqual([403, 200, 403, 200]);
  // The allow lists of the site and of the zone.
  expect(await visits(name, ['127.0.9.9', '127.0.7.7'])).toEqual([200, 200]);
  expect((await simulateFrom('127.0.9.1', name)).abuseIP).toBe('refused');

  const watched = { ...rule, id: randomUUID(), monitor: true };
  const { name: monitored } = await edge.site({ abuseIP: watched });
  expect(await visits(monitored, ['127.0.9.1', '127.0.10.1'])).toEqual([200, 200]);
  await eventually(async () => {
    const rows = (await edge.log()).filter(({ host, cause }) => [name, monitored].includes(String(host)) && cause);
    expect(rows.map(({ host, status, cause, rule: by }) => [host, status, cause, by])).toEqual([
      [name, 403, 'abuseIP', rule.id],
      [name, 403, 'abuseIP', rule.id],
      [monitored, 200, 'abuseIP', `monitor/${watched.id}`],
    ]);
  });
  expect((await edge.counters())['abuseIPWatched']).toBeGreaterThan(0);
});

const place = (text: string) => rangeOf(text)?.first ?? 0n;
/** `places`: countries by the network at which each begins. */
function geoPack(four: [string, string][], six: [string, string][]) {
  const countries = ['', ...new Set([...four, ...six].map(([, country]) => country))];
  const index = (rows: [string, string][]) => [0, ...rows.map(([, country]) => countries.indexOf(country))];
  const file = encodeGeoPack({
    places: countries.map((country) => ({ country, continent: country === 'TW' ? 'AS' : '', province: '' })),
    networks: [
      { asn: 0, isp: '' },
      { asn: 3462, isp: 'HiNet' },
    ],
    place: {
      4: { high: [0, ...four.map(([from]) => Number(place(from)))], low: [], index: index(four) },
      6: {
        high: [0, ...six.map(([from]) => Number(place(from) >> 96n))],
        low: [0, ...six.map(([from]) => Number((place(from) >> 64n) & 0xffff_ffffn))],
        index: index(six),
      },
    },
    network: { 4: { high: [0, 0x8000_0000], low: [], index: [0, 1] }, 6: { high: [], low: [], index: [] } },
  });
  const version = randomUUID();
  const middle = Math.floor(file.length / 2);
  const parts = [file.subarray(0, middle), file.subarray(middle)].map((part) => part.toString('base64'));
  const docs: PackDoc[] = parts.map((data, i) => ({ kind: 'pack', id: `geo.${i}`, version, data }));
  return [...docs, { kind: 'pack', id: 'geo', version, parts: parts.length } satisfies PackDoc];
}

test('regions are blocked or admitted, for IPv6 and translated addresses, too', async () => {
  const black = { id: randomUUID(), isBlack: true, continents: [], countries: ['TW'], provinces: [], blockType: 0 };
  const only = { ...black, id: randomUUID(), isBlack: false };
  const { name } = await edge.site({ geos: [black] });
  const { name: admitted } = await edge.site({ geos: [only] });
  const { name: asia } = await edge.site({ geos: [{ ...black, countries: [], continents: ['AS'] }] });
  // Without a pack all places are unknown.
  expect(await visitFrom('127.0.5.1', name)).toBe(200);
  await edge.put(
    ...geoPack(
      [
        ['127.0.5.0', 'TW'],
        ['127.0.6.0', 'JP'],
        ['127.0.7.0', ''],
        ['192.0.2.0', 'TW'],
        ['192.0.3.0', ''],
      ],
      [
        ['2001:db8::', 'TW'],
        ['2001:db9::', 'JP'],
      ],
    ),
  );
  const from = ['127.0.5.1', '127.0.6.1', '127.0.8.1'];
  const visit = (host: string) => Promise.all(from.map((address) => visitFrom(address, host)));
  expect(await visit(name)).toEqual([403, 200, 200]);
  expect(await visit(admitted)).toEqual([200, 403, 200]);
  expect(await visit(asia)).toEqual([403, 200, 200]);
  for (const [client, decision] of [
    ['192.0.2.1', 'refused'],
    ['::ffff:192.0.2.1', 'refused'],
    ['64:ff9b::192.0.2.1', 'refused'],
    ['192.0.3.1', 'passed'],
    ['2001:db8:1::1', 'refused'],
    ['2001:db9::1', 'passed'],
  ] as const)
    expect([client, (await simulateFrom(client, name)).geo]).toEqual([client, decision]);
});
