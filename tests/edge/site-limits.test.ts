// Limits of a site for all visitors: requests at the same time, and the rate of each response.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { preheat } from '@edgeloom/agent/link/preheat.ts';
import { readZoneKeys } from '@edgeloom/agent/store/zone-keys.ts';
import { afterAll, expect, test } from 'vitest';
import type { RateDoc } from '@edgeloom/contract/edge/documents.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { rule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
edge.origin.on('/a', { body: 'a' });
const SIZE = 4 << 20;
edge.origin.on('/large', { body: 'x'.repeat(SIZE) });
edge.origin.on('/unbuffered', { body: 'x'.repeat(SIZE), headers: { 'X-Accel-Buffering': 'no' } });
edge.origin.on('/events', { body: 'x'.repeat(SIZE), headers: { 'Content-Type': 'text/event-stream' } });

let paths = 0;
/** Sends a request that the origin does not answer until `release`. */
async function hold(name: string) {
  const path = `/held-${(paths += 1)}`;
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  edge.origin.on(path, () => {
    arrived.resolve();
    return { after: released.promise, body: 'held' };
  });
  const sent = request({ host: '127.0.0.1', port: edge.ports.http, path, headers: { host: name }, agent: false });
  sent.on('response', (reply) => arrived.reject(new Error(`answered with ${reply.resume().statusCode}`)));
  sent.on('error', arrived.reject);
  sent.end();
  await arrived.promise;
  return { release: released.resolve };
}
const statusOf = async (name: string) => (await edge.get('/a', { host: name })).status;

test('a site has so many requests at the same time over all visitors, and further ones are asked to retry', async () => {
  const { name } = await edge.site({ maxConnections: 2 }, { origin: { readTimeoutSeconds: 600 } });
  const held = [await hold(name), await hold(name)];
  const refused = await edge.get('/a', { host: name });
  expect([refused.status, refused.header('Retry-After')]).toEqual([503, '1']);
  expect(await statusFrom('127.0.0.9', edge.ports.http, name)).toBe(503);
  const other = await edge.site({ maxConnections: 2 });
  expect(await statusOf(other.name)).toBe(200);
  for (const { release } of held) release();
  await expect.poll(() => statusOf(name)).toBe(200);
});

test('requests that a rule refuses do not count', async () => {
  const limit = { id: randomUUID(), urlRegex: '', type: 1, header: '', status: 929, monitor: false, max: 1 } as const;
  const { name } = await edge.site({ maxConnections: 1, limitConns: [limit] }, { origin: { readTimeoutSeconds: 600 } });
  const { release } = await hold(name);
  expect(await statusOf(name)).toBe(929);
  release();
});

test('the log says that the site has too many requests', async () => {
  const { name } = await edge.site({ maxConnections: 1 }, { origin: { readTimeoutSeconds: 600 } });
  const { release } = await hold(name);
  const refused = await edge.get('/a', { host: name });
  expect(await edge.accessLogEntry(refused)).toMatchObject({ status: 503, cause: 'siteLimits' });
  release();
});

// Regression: it was refused, and took a place of a visitor.
test('a prefetch of the node itself is fetched although the site has as many requests as it may', async () => {
  const { name } = await edge.site(
    { maxConnections: 1, cacheRules: [rule()] },
    { origin: { readTimeoutSeconds: 600 } },
  );
  const { release } = await hold(name);
  const [zoneKey] = await readZoneKeys(join(edge.dir, 'keys'));
  const nginx = { address: '127.0.0.1', proxyProtocolPorts: [] };
  const url = `http://${name}:${edge.ports.http}/a`;
  expect(await preheat(nginx, [url], 10_000, zoneKey?.key ?? Buffer.alloc(0))).toEqual({ fetched: 1, error: null });
  release();
});

// Regression: a short stale response was no longer counted, although its visitor receives it slowly.
test('a stale response that is sent slowly counts until its end', async () => {
  const stored = rule({ cacheTime: 1, staleWhileRevalidate: 600 });
  const { site, name } = await edge.site({ cacheRules: [stored] });
  edge.origin.on('/short', { body: 'x'.repeat(512 << 10) });
  await eventually(async () => expect((await edge.get('/short', { host: name })).cache).toBe('hit'));
  edge.origin.on('/short', { after: new Promise(() => {}) });
  await eventually(async () => {
    expect((await edge.get('/short', { host: name })).header('cache-status')).toContain('detail=stale');
  });
  await edge.put({ ...site, maxConnections: 1, responseRate: 4000 });
  const slow = begin(name, '/short');
  await eventually(() => expect(slow.bytes).toBeGreaterThan(0));
  expect(await statusOf(name)).toBe(503);
  slow.abort();
});

/** Starts a download. */
function begin(host: string, path = '/large') {
  const download = { bytes: 0, ended: false, abort: () => void call.destroy() };
  const call = request({ host: '127.0.0.1', port: edge.ports.http, path, headers: { host }, agent: false })
    .on('response', (answer) => {
      answer.on('data', (chunk: Buffer) => (download.bytes += chunk.length));
      answer.on('end', () => (download.ended = true));
    })
    .on('error', () => {})
    .end();
  return download;
}

const rate: RateDoc = { id: randomUUID(), type: 'prefix', value: ['/'], rate: 1 << 20, after: SIZE / 1024 };
/** Downloads the same file without a limit, so that a download that began before would have ended too. */
async function downloadFreely() {
  const free = await edge.site({});
  expect((await edge.get('/large', { host: free.name })).bytes).toHaveLength(SIZE);
}

// So slow that no download ends during the test.
test.each([
  ['stored', { responseRate: 4000, cacheRules: [rule()] }],
  ['not stored', { responseRate: 4000 }],
  ['that a rule of the site would send faster', { responseRate: 4000, rates: [rate] }],
  ['that a rule of the site sends more slowly', { responseRate: 1 << 30, rates: [{ ...rate, rate: 1 }] }],
  ['not stored that a rule slows down', { rates: [{ ...rate, rate: 1, after: 0 }] }],
  // Regression: a customer could send its responses faster than its product allows.
  ['that the origin wants unbuffered', { responseRate: 4000 }, '/unbuffered'],
  // Regression: an origin could label any file as a stream of events, and send it at full speed.
  ['that are labelled as events', { responseRate: 4000 }, '/events'],
  ['that are labelled as events, and may be stored', { responseRate: 4000, cacheRules: [rule()] }, '/events'],
])('responses %s keep to their rate', async (_, site, path?: string) => {
  const { name } = await edge.site(site);
  const slow = begin(name, path);
  await eventually(() => expect(slow.bytes).toBeGreaterThan(0));
  await downloadFreely();
  expect([slow.ended, slow.bytes < SIZE / 2]).toEqual([false, true]);
  slow.abort();
});

// Regression: they filled the disk of the cache with as much as the origin sent.
test('slow responses that are not stored take no space on the disk', async () => {
  const { name } = await edge.site({ responseRate: 4000 });
  const slow = begin(name);
  await eventually(() => expect(slow.bytes).toBeGreaterThan(0));
  await downloadFreely();
  expect(await readFile(join(edge.dir, 'logs/error.log'), 'utf8')).not.toContain('temporary file');
  slow.abort();
});

const zip: RateDoc = { id: randomUUID(), type: 'fileType', value: ['zip'], rate: 1, after: 0 };
// Regression: all of a site with any rule of `rates` waited for full buffers.
test.each([
  ['that no rule limits', { rates: [zip] }, 'application/x-ndjson'],
  ['of events', { responseRate: 1 << 20 }, 'Text/Event-Stream'],
  ['that the origin wants unbuffered', { rates: [rate] }, 'text/plain\r\nX-Accel-Buffering: no'],
])('a stream %s arrives piece by piece', async (_, site, type) => {
  const fields = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 100000`;
  edge.origin.on('/stream', { raw: `${fields}\r\n\r\npiece` });
  const { name } = await edge.site(site, { origin: { readTimeoutSeconds: 600 } });
  const stream = begin(name, '/stream');
  await eventually(() => expect(stream.bytes).toBe('piece'.length));
  expect(stream.ended).toBe(false);
  stream.abort();
});

const events = ['data: 1\n\n', 'data: 22\n\n', `data: ${'3'.repeat(9000)}\n\n`, 'data: 4444\n\n'];
test.each([
  ['not stored', {}],
  ['that is never stored', { cacheRules: [rule({ cacheTime: 0 })] }],
  ['of another type', {}, 'application/x-ndjson'],
])('events of a stream %s arrive one by one at the rate of the site', async (_, site, type = 'text/event-stream') => {
  const steps = events.map(() => Promise.withResolvers<void>());
  async function* pieces() {
    for (const [i, event] of events.entries()) {
      yield event;
      await steps[i]?.promise;
    }
  }
  edge.origin.on('/live', { headers: { 'Content-Type': type }, pieces: pieces() });
  const { name } = await edge.site({ responseRate: 1 << 20, ...site }, { origin: { readTimeoutSeconds: 600 } });
  const stream = begin(name, '/live');
  for (const [i, step] of steps.entries()) {
    await eventually(() => expect(stream.bytes).toBe(events.slice(0, i + 1).join('').length));
    expect(stream.ended).toBe(false);
    step.resolve();
  }
  await eventually(() => expect(stream.ended).toBe(true));
});

test('a simulation says whether the site has room', async () => {
  const { name } = await edge.site({ maxConnections: 1 }, { origin: { readTimeoutSeconds: 600 } });
  const decisionOf = async () =>
    (await simulateRequest(edge, name, '/a')).steps.find(({ step }) => step === 'siteLimits')?.decision;
  expect(await decisionOf()).toBe('passed');
  const { release } = await hold(name);
  expect(await decisionOf()).toBe('refused');
  release();
});

test('a simulation says how fast responses are sent', async () => {
  const { name } = await edge.site({ responseRate: 250_000, rates: [rate] });
  const { steps } = await simulateRequest(edge, name, '/a');
  expect(steps.find(({ step }) => step === 'siteLimits')).toMatchObject({ decision: 'applied', detail: { mbps: '2' } });
  expect(steps.find(({ step }) => step === 'rates')).toMatchObject({ detail: { rate: '244', after: '0' } });
});
