// Decisions in lines of the access log.
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { rule, startEdge, type Reply } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

/** The trail without times, which differ. */
async function trail(reply: Reply) {
  const { trail: written } = await edge.accessLogEntry(reply);
  return String(written).replaceAll(/\d+(?:\.\d+)?(?=[,|])/g, (time) => (/^\d{3}$/.test(time) ? time : 'µs'));
}

test('a refusal names the step, the status and the rule', async () => {
  const antiHeader = {
    id: randomUUID(),
    name: 'x-robot',
    operator: 'exists' as const,
    value: '',
    action: 'deny' as const,
  };
  const { name } = await edge.site({ cacheRules: [rule()], antiHeaders: [antiHeader] });
  const refused = await edge.get('/a', { host: name, headers: { 'x-robot': '1' } });
  expect(refused.status).toBe(403);
  const { trail: written } = await edge.accessLogEntry(refused);
  expect(written).toMatch(new RegExp(`^[\\d.]+\\|antiHeader,403,[\\d.]+,${antiHeader.id}$`));
});

test('a request of a paused site names its state', async () => {
  const { name } = await edge.site({ status: 'pause' });
  expect(await trail(await edge.get('/', { host: name }))).toMatch(/^µs\|status,904,/);
});

test('a served request names the rules of its path, also from the cache', async () => {
  const [cacheRule, rate] = [rule(), { id: randomUUID(), type: 'all' as const, value: [], rate: 1 << 20, after: 0 }];
  const { name } = await edge.site({ cacheRules: [cacheRule], rates: [rate] });
  const rules = `|rates,rule,,${rate.id};cache,rule,,${cacheRule.id}`;
  for (const state of ['MISS', 'HIT']) {
    const line = await edge.accessLogEntry(await edge.get('/rules', { host: name }));
    expect([line['cache'], line['trail']]).toEqual([state, rules]);
  }
  const plain = await edge.site({ cacheRules: [] });
  expect((await edge.accessLogEntry(await edge.get('/', { host: plain.name })))['trail']).toBe('');
});

test.each([
  [undefined, '127.0.0.1', 'a=secret', 'https://from.example/page?q=private'],
  ['address', '127.0.0.0', 'a=secret', 'https://from.example/page?q=private'],
  ['query', '127.0.0.1', '', 'https://from.example/page'],
  ['both', '127.0.0.0', '', 'https://from.example/page'],
] as const)('with the mask %s the line has %s, "%s" and %s', async (logMask, address, args, referer) => {
  const { name } = await edge.site({ cacheRules: [rule()], ...(logMask && { logMask }) });
  const headers = { referer: 'https://from.example/page?q=private' };
  const reply = await edge.get('/masked?a=secret', { host: name, headers });
  expect(await edge.accessLogEntry(reply)).toMatchObject({ uri: '/masked', address, args, referer });
  // The origin still receives everything.
  expect(edge.origin.requests.at(-1)?.url).toBe('/masked?a=secret');
});
