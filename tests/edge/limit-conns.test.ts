// Limits of requests at the same time: what a node answers for one visitor.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type * as z from 'zod';
import type { LimitConnDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { rule, startEdge, zoneDoc, type Edge } from '../support/services/edge.ts';

const shared = await startEdge();
afterAll(() => shared.stop());
shared.origin.on('/error', { reset: true });
const file = Buffer.alloc(3 << 20, 'x');
shared.origin.on('/file', ({ headers }) => {
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const last = Math.min(to === '' ? file.length - 1 : Number(to), file.length - 1);
  const range = `bytes ${from}-${last}/${file.length}`;
  const body = file.subarray(Number(from), last + 1);
  return { status: 206, headers: { etag: '"one"', 'content-range': range }, body };
});

const limitConn = (over: Partial<z.output<typeof LimitConnDoc>> = {}) => ({
  id: randomUUID(),
  urlRegex: '',
  type: 1 as const,
  header: '',
  status: 929 as const,
  monitor: false,
  max: 1,
  ...over,
});

interface HoldOptions {
  edge?: Edge;
  method?: string;
  headers?: Record<string, string>;
}
let paths = 0;
/** Sends a request that the origin does not answer until `release`. Rejects if the edge answers it. */
async function hold(name: string, { edge = shared, method = 'GET', headers = {} }: HoldOptions = {}) {
  const path = `/held-${(paths += 1)}`;
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  edge.origin.on(path, () => {
    arrived.resolve();
    return { after: released.promise, body: 'held' };
  });
  const to = {
    host: '127.0.0.1',
    port: edge.ports.http,
    path,
    method,
    headers: { host: name, ...headers },
    agent: false as const,
  };
  const sent = request(to);
  sent.on('response', (reply) => arrived.reject(new Error(`answered with ${reply.resume().statusCode}`)));
  sent.on('error', arrived.reject);
  sent.end();
  await arrived.promise;
  return { release: released.resolve, leave: () => sent.destroy() };
}
/** The host name of a site whose held requests do not reach the origin's time limit. */
const limited = async (site: Partial<SiteDoc>, edge = shared) =>
  (await edge.site(site, { origin: { readTimeoutSeconds: 600 } })).name;
const statusOf = async (name: string, path = '/a', headers: Record<string, string> = {}, edge = shared) =>
  (await edge.get(path, { host: name, headers })).status;

/** An edge of the test. */
async function ownEdge(processes: number): Promise<Edge> {
  const edge = await startEdge({ zone: { worker: { processes, connections: 1024 } } });
  onTestFinished(() => edge.stop());
  return edge;
}

const workersOf = (edge: Edge, count: number) =>
  eventually(async () => {
    const { workers = [] } = await edge.admin.status();
    expect(workers).toHaveLength(count);
    return workers;
  });

test('the limit applies for each visitor and site', async () => {
  const name = await limited({ limitConns: [limitConn({ max: 5 })] });
  const held = [];
  for (let i = 0; i < 5; i += 1) held.push(await hold(name));
  expect(await statusOf(name)).toBe(929);
  expect(await statusFrom('127.0.0.9', shared.ports.http, name)).toBe(200);
  const other = await limited({ limitConns: [limitConn()] });
  expect(await statusOf(other)).toBe(200);
  held.pop()?.release();
  await expect.poll(() => statusOf(name)).toBe(200);
  for (const { release } of held) release();
});

test('requests are counted by a header where the rule says so, and on the paths of its pattern', async () => {
  const name = await limited({ limitConns: [limitConn({ type: 4, header: 'X-Api-Key', urlRegex: '^/held' })] });
  const one = { 'x-api-key': 'one' };
  const held = await hold(name, { headers: one });
  expect(await statusOf(name, '/held', one)).toBe(929);
  expect(await statusOf(name, '/a', one)).toBe(200);
  expect(await statusOf(name, '/held', { 'x-api-key': 'two' })).toBe(200);
  held.release();
});

test('429 names when to retry; a rule that monitors refuses nothing, and the log names it', async () => {
  const watching = limitConn({ monitor: true });
  const name = await limited({ limitConns: [watching, limitConn({ max: 2, status: 429 })] });
  const held = await hold(name);
  const watched = await shared.get('/a', { host: name });
  expect(watched.status).toBe(200);
  expect(await shared.accessLogEntry(watched)).toMatchObject({ cause: 'limitConn', rule: `monitor/${watching.id}` });
  const second = await eventually(() => hold(name));
  const refused = await shared.get('/a', { host: name });
  expect([refused.status, refused.header('retry-after')]).toEqual([429, '1']);
  held.release();
  second.release();
});

test('visitors on an allow list are exempt', async () => {
  const list = listDoc({ id: randomUUID(), value: ['127.0.0.1'], expires: [] });
  await shared.put(list);
  const name = await limited({ lists: [{ id: list.id, isBlack: false }], limitConns: [limitConn()] });
  const held = await hold(name);
  expect(await statusOf(name)).toBe(200);
  held.release();
});

const untilCached = (name: string) =>
  eventually(async () => {
    const { status, cache } = await shared.get('/stored', { host: name });
    expect([status, cache]).toEqual([200, 'hit']);
  });

describe('is uncounted once', () => {
  async function leaveAndRelease(name: string) {
    const { leave, release } = await hold(name);
    leave();
    release();
  }
  const often = { id: randomUUID(), urlRegex: '^/often$', type: 1, header: '', status: 929, monitor: false } as const;
  const untilRefused = (name: string) =>
    eventually(async () => {
      const reply = await shared.get('/often', { host: name });
      // The previous request may still be counted, and then the concurrency limit refuses this one.
      expect(await shared.accessLogEntry(reply)).toMatchObject({ cause: 'frequency' });
    });
  test.each<[string, Partial<SiteDoc>, (name: string) => Promise<unknown>]>([
    ['that is answered', {}, (name) => statusOf(name)],
    ['that is answered by the cache', { cacheRules: [rule()] }, untilCached],
    ['for a file in slices', { cacheRules: [rule({ slices: true })] }, (name) => statusOf(name, '/file')],
    ['that an error page answers', {}, (name) => statusOf(name, '/error')],
    ['that a later rule refuses', { frequencies: [{ ...often, times: 1, seconds: 3600 }] }, untilRefused],
    [
      'that bypasses the cache, and whose visitor leaves',
      {},
      async (name) => (await hold(name, { method: 'POST' })).leave(),
    ],
    ['for the cache, whose visitor leaves before the origin answers', {}, leaveAndRelease],
  ])('a request %s', async (_, site, send) => {
    const name = await limited({ ...site, limitConns: [limitConn({ max: 2 })] });
    const first = await hold(name);
    await send(name);
    // Counted still, it would leave no room for a second. Uncounted twice, it would leave room for a third.
    const second = await eventually(() => hold(name));
    expect(await statusOf(name)).toBe(929);
    first.release();
    second.release();
  });

  test('a request for a stale response, before its update ends', async () => {
    const stored = rule({ cacheTime: 1, staleWhileRevalidate: 600 });
    const name = await limited({ cacheRules: [stored], limitConns: [limitConn()] });
    await untilCached(name);
    const update = Promise.withResolvers<void>();
    shared.origin.on('/stored', { after: update.promise });
    const stale = await eventually(async () => {
      const reply = await shared.get('/stored', { host: name });
      expect(reply.header('cache-status')).toContain('detail=stale');
      return reply;
    });
    const held = await eventually(() => hold(name));
    update.resolve();
    // nginx logs the request after the update.
    await shared.accessLogEntry(stale);
    expect(await statusOf(name)).toBe(929);
    held.release();
  });
});

test('a reload keeps the count of requests that former workers answer', async () => {
  const edge = await ownEdge(1);
  const name = await limited({ limitConns: [limitConn()] }, edge);
  const held = await hold(name, { edge });
  await edge.render(zoneDoc(edge.ports, { worker: { processes: 1, connections: 1024 } }));
  await edge.reload();
  expect(await statusOf(name, '/a', {}, edge)).toBe(929);
  held.release();
  await expect.poll(() => statusOf(name, '/a', {}, edge)).toBe(200);
});

test('killing an old worker after a reload releases its counts', async () => {
  const edge = await ownEdge(1);
  const name = await limited({ limitConns: [limitConn()] }, edge);
  const [former] = await workersOf(edge, 1);
  await hold(name, { edge });
  await edge.reload();
  expect(await statusOf(name, '/a', {}, edge)).toBe(929);
  process.kill(former?.pid ?? 0, 'SIGKILL');
  await expect.poll(() => statusOf(name, '/a', {}, edge)).toBe(200);
});

test("a killed worker's requests are no longer counted, and those of other workers are", async () => {
  const edge = await ownEdge(2);
  const name = await limited({ limitConns: [limitConn({ max: 4 })] }, edge);
  const workers = await workersOf(edge, 2);
  for (const { pid } of workers) {
    // A stopped worker accepts nothing, so the other one has the requests.
    process.kill(pid, 'SIGSTOP');
    await eventually(async () => expect(await readFile(`/proc/${pid}/stat`, 'utf8')).toContain(') T '));
    await hold(name, { edge });
    await hold(name, { edge });
    process.kill(pid, 'SIGCONT');
  }
  expect(await statusOf(name, '/a', {}, edge)).toBe(929);
  process.kill(workers[0]?.pid ?? 0, 'SIGKILL');
  await eventually(async () => {
    const more = [];
    try {
      for (let i = 0; i < 2; i += 1) more.push(await hold(name, { edge }));
      expect(await statusOf(name, '/a', {}, edge)).toBe(929);
    } finally {
      for (const { leave, release } of more) {
        leave();
        // A fetch for the cache counts until the origin answers.
        release();
      }
    }
  });
});

test('a simulation says what would be refused, and counts nothing', async () => {
  const limit = limitConn();
  const name = await limited({ limitConns: [limit] });
  const simulated = async () => {
    const { steps } = await simulateRequest(shared, name, '/a');
    return steps.find(({ step }) => step === 'limitConn');
  };
  expect([(await simulated())?.decision, (await simulated())?.decision]).toEqual(['passed', 'passed']);
  const held = await hold(name);
  expect(await simulated()).toMatchObject({ decision: 'refused', rule: { kind: 'limitConn', id: limit.id } });
  held.release();
});
