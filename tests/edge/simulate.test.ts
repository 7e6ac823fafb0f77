import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createReplays } from '@edgeloom/agent/nginx/replay.ts';
import { simulateOrder } from '@edgeloom/agent/nginx/simulate.ts';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { defaultErrorPagesDoc } from '@edgeloom/api/compile/error-pages.ts';
import type { ReplayedRequest } from '@edgeloom/contract/edge/simulated.ts';
import { WafExplanation } from '@edgeloom/contract/waf/explanation.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import type { Edge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate } from '../support/fakes/origin.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { siteWithWaf } from '../support/builders/waf.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

/** Cached objects by path. */
async function store(of = edge): Promise<Record<string, string>> {
  const dir = join(of.dir, 'cache/objects');
  const files = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(path, 'base64')] as const)),
  );
}

const decisions = ({ steps }: Awaited<ReturnType<typeof simulateRequest>>) =>
  Object.fromEntries(steps.map(({ step, decision }) => [step, decision]));

test('a simulation requests no origin, stores nothing and is not logged', async () => {
  // One worker writes its rows in order, so that a row of a simulation would precede the last one.
  const single = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
  onTestFinished(() => single.stop());
  const { name } = await single.site({ cacheRules: [rule()] });
  const before = await store(single);
  const first = await simulateRequest(single, name, '/never');
  const again = await simulateRequest(single, name, '/never');
  for (const one of [first, again])
    expect(decisions(one)).toMatchObject({ cache: 'looked', origin: 'chosen', keep: 'stored', store: 'miss' });
  expect(first.asked).toMatchObject({ method: 'GET', uri: '/never' });
  // The simulation has no side effects.
  const real = await single.get('/never', { host: name });
  expect(real.cache).toBe('uri-miss');
  expect(single.origin.asked('/never')).toHaveLength(1);
  await single.accessLogEntry(real);
  expect((await single.log()).filter((row) => row['host'] === name)).toHaveLength(1);
  expect(Object.keys(await store(single)).length - Object.keys(before).length).toBe(1);
});

const formOf = (text: string, headers: [string, string][] = []) => ({
  method: 'POST',
  headers: [...headers, ['Content-Type', 'application/x-www-form-urlencoded'] satisfies [string, string]],
  body: Buffer.from(text).toString('base64'),
});

test('the firewall judges the body of a simulated request, and no origin is asked', async () => {
  const { name } = await siteWithWaf(edge);
  const refused = await simulateRequest(edge, name, '/form', formOf('id=1+union+select+2,3'));
  expect(refused).toMatchObject({ status: 403, asked: null, hasBody: true });
  expect(refused.steps.find(({ step }) => step === 'waf')).toMatchObject({
    decision: 'refused',
    detail: { status: '403', place: 'form', name: 'id', rule: 'sqli-union-select' },
  });
  const passed = await simulateRequest(edge, name, '/form', formOf('id=1'));
  expect(decisions(passed)).toMatchObject({ waf: 'passed', cache: 'past', origin: 'chosen' });
  expect(passed.asked?.headers).toContainEqual(['Content-Length', '4']);
  expect(edge.origin.asked('/form')).toEqual([]);
});

test('what the firewall found is explained as in the log', async () => {
  const { name } = await siteWithWaf(edge, { mode: 'monitor' });
  const { steps } = await simulateRequest(edge, name, '/a%20b', formOf('id=1+union+select+2,3'));
  const { path, explanation = '' } = steps.find(({ step }) => step === 'waf')?.detail ?? {};
  expect(path).toBe('/a b');
  const real = await edge.get('/a%20b', {
    host: name,
    method: 'POST',
    body: 'id=1+union+select+2,3',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  expect(WafExplanation.parse(JSON.parse(explanation))).toMatchObject({ place: 'form', name: 'id' });
  expect((await edge.accessLogEntry(real))['waf']).toBe(explanation);
});

// A worker suppresses some writes while it judges a simulation, which must not wait for its body then.
test('while a simulation waits for its body, the node still learns which URLs are not cacheable', async () => {
  const single = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
  onTestFinished(() => single.stop());
  const { name } = await siteWithWaf(single, {}, { cacheRules: [rule({ honourOrigin: true })] });
  const cachesOf = async (path: string) => {
    single.origin.on(path, { headers: { 'Cache-Control': 'no-store' }, body: 'x' });
    return [(await single.get(path, { host: name })).cache, (await single.get(path, { host: name })).cache];
  };
  const [first, second] = await cachesOf('/before');
  expect(second).not.toBe(first);
  const id = randomUUID();
  const order = { scheme: 'http', port: single.ports.http, answer: { status: 200, headers: [] } };
  await single.admin.simulate(id, order);
  const socket = connect(join(single.dir, 'run/simulate.sock'));
  onTestFinished(() => void socket.destroy());
  const fields = [`Host: ${name}`, 'Content-Length: 9', `X-E-Simulate: ${id}`, 'X-E-Client: 127.0.0.1'];
  const start = ['POST / HTTP/1.1', ...fields, '', 'id='].join('\r\n');
  await new Promise((resolve) => socket.write(start, resolve));
  // The only worker has read all of this before it accepts another connection.
  await single.get('/other', { host: name });
  expect(await cachesOf('/during')).toEqual([first, second]);
});

test('the largest body is judged whole', async () => {
  const { name } = await siteWithWaf(edge);
  const large = formOf(`${'a=1&'.repeat(16_000)}id=1+union+select+2,3`);
  const all = await Promise.all(Array.from({ length: 8 }, () => simulateRequest(edge, name, '/large-form', large)));
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 403));
});

test('a body that the zone does not accept is refused as it is to visitors', async () => {
  const small = await startEdge({ zone: { maxBodyBytes: 10 } });
  onTestFinished(() => small.stop());
  const { name } = await small.site();
  const real = await small.get('/', { host: name, method: 'POST', body: 'more than ten' });
  const simulated = await simulateRequest(small, name, '/', { method: 'POST', body: btoa('more than ten') });
  expect([simulated.status, real.status]).toEqual([413, 413]);
});

test("an operator's error page is no rule of the site", async () => {
  const doc = defaultErrorPagesDoc([{ code: 502, type: 'content', value: '<h1>later</h1>' }]);
  if (doc) await edge.put(doc);
  onTestFinished(() => edge.remove('errorPages'));
  const { name } = await edge.site();
  const { name: dressed } = await edge.site({ errorPages: [{ code: 502, html: '<h1>own</h1>' }] });
  const stepOf = async (host: string, status: number) =>
    (await simulateRequest(edge, host, '/', { answer: { status, headers: [] } })).steps.find(
      ({ step }) => step === 'errorPage',
    );
  expect(await stepOf(name, 502)).toMatchObject({ decision: 'answered', detail: { status: '502' }, rule: null });
  expect(await stepOf(name, 200)).toMatchObject({ decision: 'unused', rule: null });
  expect(await stepOf(dressed, 502)).toMatchObject({ decision: 'applied', rule: { kind: 'errorPage', id: '502' } });
});

test('a hit is reported without being sent, and stays cached', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  edge.origin.on('/large', { body: 'x'.repeat(4 << 20) });
  await edge.get('/large', { host: name });
  const before = await store();
  const found = await simulateRequest(edge, name, '/large');
  expect(decisions(found)).toMatchObject({ store: 'hit' });
  expect(found.asked).toBeNull();
  expect(await store()).toEqual(before);
});

test('a simulation neither waits for nor delays visitors of the same URL', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  const slow = gate();
  edge.origin.on('/slow', { after: slow.opened, body: 'x' });
  const visitor = edge.get('/slow', { host: name });
  await eventually(() => expect(edge.origin.asked('/slow')).toHaveLength(1));
  // Regression: simulations waited five seconds, longer than the control plane does, and ran one after the other.
  const all = await Promise.all(Array.from({ length: 12 }, () => simulateRequest(edge, name, '/slow', {}, 4500)));
  for (const one of all) expect(decisions(one)).toMatchObject({ store: 'miss', origin: 'chosen' });
  slow.open();
  expect((await visitor).cache).toBe('uri-miss');
});

test.each(['/%00', '/%zz', '/%'])('%j, which nginx does not read, is answered as it is to visitors', async (path) => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  const { status } = await edge.get(path, { host: name });
  expect(await simulateRequest(edge, name, path)).toMatchObject({ status, siteID: null, steps: [], asked: null });
});

test('a simulated response leaves no state', async () => {
  const { name } = await edge.site({ cacheRules: [rule({ honourOrigin: true })] });
  const before = await edge.counters();
  // If the simulation marked the URL uncacheable or stored its variants, the next status would differ.
  const responses = [
    ['Cache-Control', 'no-store'],
    ['Vary', 'Accept-Language'],
  ] as [string, string][];
  await simulateRequest(edge, name, '/kept', { answer: { status: 200, headers: responses.slice(0, 1) } });
  await simulateRequest(edge, name, '/kept', { answer: { status: 200, headers: responses.slice(1) } });
  expect((await edge.get('/kept', { host: name })).cache).toBe('uri-miss');
  // Nor do unsafe methods purge anything.
  await simulateRequest(edge, name, '/kept', { method: 'DELETE', answer: { status: 204, headers: [] } });
  expect((await edge.get('/kept', { host: name })).cache).toBe('hit');
  expect(await edge.counters()).toEqual(before);
});

// Regression: the simulation stored the variants that the image will have.
test('a simulated image leaves no entry about its URL', async () => {
  const entries = 'counters = { entries = #require("edge.core.dicts").urls:get_keys(0) },';
  const images = await startEdge({
    lua: [{ file: 'edge/admin.lua', from: 'counters = counters.all(),', to: entries }],
  });
  onTestFinished(() => images.stop());
  const webp = { quality: 80, types: ['image/jpeg'], minBytes: 500, maxBytes: 1 << 20 };
  const { name } = await images.site({ cacheRules: [rule()], webp });
  for (const type of ['image/jpeg', 'text/html']) {
    const found = await simulateRequest(images, name, '/photo.jpg', {
      headers: [['Accept', 'image/webp']],
      answer: {
        status: 200,
        headers: [
          ['Content-Type', type],
          ['Content-Length', '1000'],
        ],
      },
    });
    expect(decisions(found)).toMatchObject({ origin: 'chosen', store: 'miss' });
  }
  expect(await images.counters()).toEqual({ entries: 0 });
});

test('a simulation does not consume a pending purge', async () => {
  const { site, name } = await edge.site({ cacheRules: [rule()] });
  edge.origin.on('/tagged', { headers: { 'Cache-Tag': 'news' }, body: 'x' });
  await edge.get('/tagged', { host: name });
  await edge.admin.purge({ site: site.id, tags: ['news'] }, 5000);
  const before = await store();
  for (let i = 0; i < 2; i += 1)
    expect(decisions(await simulateRequest(edge, name, '/tagged'))).toMatchObject({ store: 'miss', origin: 'chosen' });
  expect(await store()).toEqual(before);
  expect((await edge.get('/tagged', { host: name })).cache).toBe('uri-miss');
});

test('unsaved documents apply to that request alone', async () => {
  const { site, host, name } = await edge.site({ cacheRules: [rule()] });
  await edge.get('/drafted', { host: name });
  const id = crypto.randomUUID();
  const redirect = { id: crypto.randomUUID(), code: 302, to: ['/elsewhere'], keepQuery: false };
  const redirects = {
    kind: 'module',
    id,
    module: 'urlRedirect',
    exact: { '/drafted': redirect },
    prefix: {},
    patterns: [],
  };
  const docs = {
    [`host/${name}`]: JSON.stringify({ ...host, modules: { urlRedirect: id } }),
    [`module/${id}`]: JSON.stringify({ ...redirects, hosts: false, queries: false }),
  };
  const drafted = await simulateRequest(edge, name, '/drafted', { docs });
  expect(drafted.status).toBe(302);
  expect(drafted.steps.at(-1)).toMatchObject({ step: 'urlRedirect', rule: { kind: 'redirect', id: redirect.id } });
  const paused = await simulateRequest(edge, name, '/drafted', {
    docs: { [`site/${site.id}`]: JSON.stringify({ ...site, status: 'pause' }) },
  });
  expect(paused.status).toBe(904);
  const gone = await simulateRequest(edge, name, '/drafted', { docs: { [`host/${name}`]: null } });
  expect(gone.status).toBe(903);
  expect(decisions(await simulateRequest(edge, name, '/drafted'))).toMatchObject({ store: 'hit' });
  expect((await edge.get('/drafted', { host: name })).cache).toBe('hit');
});

test('client address and country are those of the simulated request', async () => {
  const { name, site } = await edge.site(
    { cacheRules: [], ports: [edge.ports.https] },
    { https: { force: false, hsts: 'max-age=5', minTLS: 'TLSv1.2' } },
  );
  const secure = await simulateRequest(edge, name, '/', { scheme: 'https', port: edge.ports.https, ip: '2001:db8::7' });
  expect(secure.headers).toContainEqual(['Strict-Transport-Security', 'max-age=5']);
  expect(secure.asked?.headers).toContainEqual(['X-Real-IP', '2001:db8::7']);
  expect(secure.asked?.headers).toContainEqual(['X-Forwarded-Proto', 'https']);
  const closed = await simulateRequest(edge, name, '/', { port: edge.ports.http });
  expect(closed).toMatchObject({
    status: 903,
    siteID: site.id,
    steps: [{ step: 'host', decision: 'refused', detail: { why: 'port' } }],
  });
});

test('a visitor cannot simulate by sending our internal headers', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  const real = await edge.get('/private', {
    host: name,
    headers: { 'X-E-Simulate': 'x', 'X-E-Trace': 'x', 'X-E-Client': '203.0.113.1' },
  });
  expect(real.status).toBe(200);
  const [asked] = edge.origin.asked('/private');
  expect(asked?.headers['x-real-ip']).toBe('127.0.0.1');
  expect(Object.keys(asked?.headers ?? {}).filter((field) => field.startsWith('x-e-'))).toEqual([]);
});

test('concurrent simulations do not mix their steps', async () => {
  const { name } = await edge.site();
  const asks = Array.from({ length: 40 }, (_, i) => simulateRequest(edge, name, `/many/${i}`));
  const { steps: alone } = await simulateRequest(edge, name, '/alone');
  expect((await Promise.all(asks)).map(({ asked, steps }) => [asked?.uri, steps.length])).toEqual(
    Array.from({ length: 40 }, (_, i) => [`/many/${i}`, alone.length]),
  );
});

// Once, a replay judged logged requests by the present counters: served ones of /robots.txt "would be blocked".
describe('a limit whose counter is used up refuses a simulation, and nothing in a replay:', () => {
  let limited: Edge;
  beforeAll(async () => {
    limited = await startEdge({
      zone: { visitorAddress: { networks: ['127.0.0.1/32'], header: 'X-Forwarded-For' } },
      lua: [
        {
          file: 'edge/plugins/robots.lua',
          from: 'MAX_PER_MINUTE, MINUTE, RETRY_SECONDS = 120',
          to: 'MAX_PER_MINUTE, MINUTE, RETRY_SECONDS = 1',
        },
      ],
    });
  });
  afterAll(() => limited.stop());

  const limit = { id: randomUUID(), urlRegex: '', type: 1, header: '', status: 929, monitor: false } as const;
  test.each<[string, Partial<SiteDoc>, string, number]>([
    ['robots.txt', { robots: 'User-agent: *' }, '/robots.txt', 429],
    ['crawlers', { crawlers: [{ id: randomUUID(), category: 'seo', action: 'limit', perMinute: 1 }] }, '/', 429],
    ['requests per window', { frequencies: [{ ...limit, seconds: 3600, times: 1 }] }, '/', 929],
    ['requests per second', { limitReqs: [{ ...limit, rate: 1, burst: 0, queue: false }] }, '/', 929],
  ])('%s', async (_, site, path, status) => {
    const { name } = await limited.site(site);
    const [userAgent, ip] = ['AhrefsBot/7.0', '192.0.2.1'];
    const headers: [string, string][] = [['User-Agent', userAgent]];
    const request = { scheme: 'http' as const, port: limited.ports.http, method: 'GET', host: name, path, headers, ip };
    await eventually(async () => {
      const visit = { host: name, headers: { 'user-agent': userAgent, 'x-forwarded-for': ip } };
      expect((await limited.get(path, visit)).status).toBe(status);
      expect((await simulateRequest(limited, name, path, request)).status).toBe(status);
    });
    const replay = createReplays(limited.admin, join(limited.dir, 'run/simulate.sock'));
    expect(await replay({ requests: [request], docs: {} }, 10_000)).toMatchObject([{ status: 200 }]);
  });

  test('requests at the same time', async () => {
    const { name } = await limited.site({ limitConns: [{ ...limit, max: 1 }] });
    const { opened, open } = gate();
    limited.origin.on('/held', { body: 'held', after: opened });
    const ip = '192.0.2.1';
    const held = limited.get('/held', { host: name, headers: { 'x-forwarded-for': ip } });
    await eventually(() => expect(limited.origin.asked('/held')).toHaveLength(1));
    const request = { scheme: 'http' as const, port: limited.ports.http, method: 'GET', host: name, path: '/', ip };
    const simulated = await simulateRequest(limited, name, '/', request);
    const replay = createReplays(limited.admin, join(limited.dir, 'run/simulate.sock'));
    const replayed = await replay({ requests: [{ ...request, headers: [] }], docs: {} }, 10_000);
    open();
    await held;
    expect(simulated.status).toBe(929);
    expect(replayed).toMatchObject([{ status: 200 }]);
  });
});

test('requests of a replay share the documents of a draft, and one that cannot be sent fails alone', async () => {
  const { name, site } = await edge.site({ cacheRules: [rule()] });
  const antiHeader = {
    id: randomUUID(),
    name: 'user-agent',
    operator: 'contains' as const,
    value: 'bad',
    action: 'deny' as const,
  };
  const docs = { [`site/${site.id}`]: JSON.stringify({ ...site, antiHeaders: [antiHeader] }) };
  const request = (userAgent: string, over: Partial<ReplayedRequest> = {}): ReplayedRequest => ({
    scheme: 'http',
    port: edge.ports.http,
    method: 'GET',
    host: name,
    path: '/replayed',
    headers: [['User-Agent', userAgent]],
    ip: '203.0.113.7',
    ...over,
  });
  const replay = createReplays(edge.admin, join(edge.dir, 'run/simulate.sock'));
  const requests = [...Array.from({ length: 30 }, (_, i) => request(i % 3 === 0 ? 'bad' : 'good')), request('\n')];
  const results = await replay({ requests, docs }, 10_000);
  const passed = { siteID: site.id, status: 200, end: null };
  const end = { step: 'antiHeader', decision: 'refused', rule: { kind: 'antiHeader', id: antiHeader.id } };
  const refused = { siteID: site.id, status: 403, end };
  expect(results).toEqual([...Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? refused : passed)), null]);
  // Without the draft the request passes, and a name of nobody is refused.
  const others = await replay(
    { requests: [request('bad'), request('', { host: 'nobody.example.com' })], docs: {} },
    10_000,
  );
  expect(others).toMatchObject([passed, { siteID: null, end: { step: 'host' } }]);
  expect(edge.origin.asked('/replayed')).toEqual([]);
});

test('a request of a replay whose documents have expired belongs to no site', async () => {
  const { name } = await edge.site();
  const { ports, admin, dir } = edge;
  const request = {
    scheme: 'http' as const,
    port: ports.http,
    method: 'GET',
    host: name,
    path: '/',
    headers: [],
    ip: '192.0.2.1',
  };
  const order = { scheme: 'http', port: ports.http, answer: { status: 200, headers: [] }, draft: randomUUID() };
  const result = await simulateOrder(admin, join(dir, 'run/simulate.sock'), request, order, 10_000);
  expect(result).toMatchObject({ siteID: null, status: 410 });
});
