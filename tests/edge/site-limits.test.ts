// Limits of a site as a whole: requests at the same time, and bandwidth.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
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
  const { name } = await edge.site({ maxConnections: 2, limitConns: [limit] }, { origin: { readTimeoutSeconds: 600 } });
  const { release } = await hold(name);
  for (let i = 0; i < 3; i += 1) expect(await statusOf(name)).toBe(929);
  expect(await statusFrom('127.0.0.9', edge.ports.http, name)).toBe(200);
  release();
});

/** Starts a download. */
function begin(host: string) {
  const download = { bytes: 0, ended: false, abort: () => void call.destroy() };
  const call = request({ host: '127.0.0.1', port: edge.ports.http, path: '/large', headers: { host }, agent: false })
    .on('response', (answer) => {
      answer.on('data', (chunk: Buffer) => (download.bytes += chunk.length));
      answer.on('end', () => (download.ended = true));
    })
    .on('error', () => {})
    .end();
  return download;
}

const rate: RateDoc = { id: randomUUID(), type: 'prefix', value: ['/'], rate: 1 << 20, after: SIZE / 1024 };
// So slow that no download ends during the test.
test.each([
  ['stored', { bandwidth: 4000, cacheRules: [rule()] }],
  ['not stored', { bandwidth: 4000 }],
  ['that a rule of the site would send faster', { bandwidth: 4000, rates: [rate] }],
  ['not stored that a rule slows down', { rates: [{ ...rate, rate: 1, after: 0 }] }],
])('responses %s keep to the bandwidth', async (_, site) => {
  const { name } = await edge.site(site);
  const slow = begin(name);
  await eventually(() => expect(slow.bytes).toBeGreaterThan(0));
  const free = await edge.site({});
  expect((await edge.get('/large', { host: free.name })).bytes).toHaveLength(SIZE);
  expect([slow.ended, slow.bytes < SIZE / 2]).toEqual([false, true]);
  slow.abort();
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
