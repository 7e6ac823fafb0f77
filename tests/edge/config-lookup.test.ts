import { afterAll, expect, test } from 'vitest';
import { hostDoc, rule, startEdge } from '../support/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

test('the first request of an object is a miss and the second a hit', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  const first = await edge.get('/a', { host: name });
  expect(first.status).toBe(200);
  expect(first.body).toBe('/a');
  expect(first.cache).toBe('uri-miss');
  const second = await edge.get('/a', { host: name });
  expect(second.cache).toBe('hit');
  expect(second.body).toBe('/a');
  expect(edge.origin.asked('/a')).toHaveLength(1);
});
