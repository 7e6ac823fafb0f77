import { afterEach, expect, test, vi } from 'vitest';
import { checkHealth, type Checks } from './health.ts';

afterEach(() => {
  vi.useRealTimers();
});

const checksOf = (check: () => Promise<unknown>): Checks => new Map([['nats', { isVital: false, check }]]);

test('a check that fails at once is not reachable, and a check that does not end has no response', async () => {
  const refused = await checkHealth(checksOf(() => Promise.reject(new Error('secret.example.com refused'))));
  expect(refused).toMatchObject({ status: 'degraded', checks: { nats: { ok: false, error: 'not reachable' } } });
  vi.useFakeTimers();
  const silent = checkHealth(checksOf(() => new Promise(() => {})));
  await vi.runAllTimersAsync();
  expect(await silent).toMatchObject({ status: 'degraded', checks: { nats: { ok: false, error: 'no response' } } });
});
