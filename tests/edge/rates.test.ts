import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import type { RateDoc } from '@edgeloom/contract/edge/documents.ts';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const SIZE = 4 << 20;
const FIRST = 256 << 10;
for (const path of ['/a.iso', '/a.txt', '/free/a.iso']) edge.origin.on(path, { body: 'x'.repeat(SIZE) });

/** So slow that only the initial burst arrives during a test. */
const limit = (over: Partial<RateDoc> = {}): RateDoc => ({
  id: randomUUID(),
  type: 'fileType',
  value: ['iso'],
  rate: 1,
  after: FIRST / 1024,
  ...over,
});

/** Starts a download. */
function begin(path: string, host: string) {
  const download = { bytes: 0, ended: false, abort: () => void call.destroy() };
  const call = request({ host: '127.0.0.1', port: edge.ports.http, path, headers: { host } })
    .on('response', (answer) => {
      answer.on('data', (chunk: Buffer) => (download.bytes += chunk.length));
      answer.on('end', () => (download.ended = true));
    })
    .on('error', () => {})
    .end();
  return download;
}

test('matching responses are slow after an initial part, from origin and cache; others are not limited', async () => {
  const { name } = await edge.site({
    cacheRules: [rule()],
    rates: [limit({ type: 'prefix', value: ['/free/'], rate: 1 << 20 }), limit()],
  });
  for (const state of ['origin', 'store']) {
    const slow = begin('/a.iso', name);
    await eventually(() => expect(slow.bytes).toBeGreaterThanOrEqual(FIRST));
    // Both end before the first download, which started earlier. The first matching path rule decides.
    expect((await edge.get('/a.txt', { host: name })).bytes).toHaveLength(SIZE);
    expect((await edge.get('/free/a.iso', { host: name })).bytes).toHaveLength(SIZE);
    expect([state, slow.ended]).toEqual([state, false]);
    expect(slow.bytes).toBeLessThan(FIRST + (1 << 20));
    slow.abort();
  }
});

test('a removed limit ends with the next request', async () => {
  const { site, name } = await edge.site({ rates: [limit()] });
  const slow = begin('/a.iso', name);
  await eventually(() => expect(slow.bytes).toBeGreaterThanOrEqual(FIRST));
  const { rates, ...bare } = site;
  expect(rates).toHaveLength(1);
  await edge.put(bare);
  expect((await edge.get('/a.iso', { host: name })).bytes).toHaveLength(SIZE);
  slow.abort();
});
