import { LogQuery, LOGS_COUNTED } from '@edgeloom/contract/logs/logs.ts';
import { WafLogQuery } from '@edgeloom/contract/logs/waf.ts';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { MAX_SEARCH_MS, searchBackwards, type SearchWindow } from './bounded-search.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-11-20T00:00:00.123Z');
const LIMIT_MS = 250;
const at = (ms: number) => new Date(START + ms);

const queryOf = (rest: Partial<z.input<typeof LogQuery>> = {}) =>
  LogQuery.parse({ startTime: at(0).toISOString(), endTime: at(DAY_MS).toISOString(), ...rest });

/** Milliseconds to read a time, in milliseconds after the start. */
type CostOf = (from: number, to: number) => number;
const perHour =
  (ms: number, msPerWindow = 0): CostOf =>
  (from, to) =>
    msPerWindow + ((to - from) / HOUR_MS) * ms;

/** Requests at these milliseconds after the start. Each page may end early. */
function storeOf(times: readonly number[], costOf: CostOf) {
  let clock = 0;
  const windows: SearchWindow[] = [];
  const newestFirst = times.toSorted((a, b) => b - a);
  return {
    windows,
    elapsed: () => clock,
    search: async (query: LogQuery) => {
      const started = clock;
      const result = await searchBackwards(
        query,
        { limitMs: LIMIT_MS, firstWindowMs: 15_000 },
        ({ ...window }, timeoutMs) => {
          const { from, to, offset, pageSize, limit } = window;
          const cost = costOf(from.getTime() - START, to.getTime() - START);
          clock += Math.min(cost, timeoutMs);
          if (cost > timeoutMs) return Promise.resolve(null);
          windows.push(window);
          const matches = newestFirst.filter((ms) => at(ms) >= from && at(ms) < to).slice(0, limit);
          const rows = matches.slice(offset, offset + pageSize).map((time) => ({ time }));
          return Promise.resolve({ rows, matched: matches.length });
        },
        () => clock,
      );
      return { ...result, took: clock - started, times: result.rows.map(({ time }) => time) };
    },
  };
}

test('a fast search reads the whole period and counts all of it', async () => {
  const times = Array.from({ length: 300 }, (_, i) => i * 250_000);
  const store = storeOf(times, perHour(0.1));
  const first = await store.search(queryOf());
  expect(first).toMatchObject({ total: 300, reached: null, times: times.toReversed().slice(0, 25) });
  const second = await store.search(queryOf({ page: 2 }));
  expect(second).toMatchObject({ total: 300, reached: null, times: times.toReversed().slice(25, 50) });
});

test('a search ends when it has counted enough, before the start of the period', async () => {
  const times = Array.from({ length: 20_000 }, (_, i) => DAY_MS - 1 - i);
  const store = storeOf(times, perHour(0.1));
  expect(await store.search(queryOf())).toMatchObject({ total: LOGS_COUNTED, reached: null });
  expect(store.windows).toHaveLength(1);
  const deep = await store.search(queryOf({ page: 31, pageSize: 500 }));
  expect([deep.total, deep.times[0], deep.times.length]).toEqual([LOGS_COUNTED, DAY_MS - 1 - 30 * 500, 500]);
  expect(store.windows).toHaveLength(3);
});

test.each([10, 1000])(
  'reading an hour in %d ms, a search without matches ends in time and continues to the start of the day',
  async (msPerHour) => {
    const store = storeOf([5], perHour(msPerHour));
    const found: number[] = [];
    for (let until: string | undefined; ;) {
      const { took, reached, times, total } = await store.search(queryOf({ until }));
      expect(took).toBeLessThanOrEqual(LIMIT_MS);
      expect(total).toBe(times.length);
      found.push(...times);
      if (reached === null) break;
      until = reached.toISOString();
    }
    expect(found).toEqual([5]);
    for (const [i, { from, to }] of store.windows.entries()) {
      expect(to > from).toBe(true);
      expect(store.windows[i - 1]?.from ?? at(DAY_MS)).toEqual(to);
    }
  },
);

test.each([50, 100, 200])('windows also grow where each read takes %d ms, whatever its length', async (ms) => {
  const store = storeOf([5], perHour(0.1, ms));
  let searches = 1;
  for (let until: string | undefined; ; searches += 1) {
    const { reached } = await store.search(queryOf({ until }));
    if (reached === null) break;
    until = reached.toISOString();
  }
  // The console does forty by itself. With windows of 15 seconds, they would be more than a thousand.
  expect(searches).toBeLessThan(40);
});

test('the last window of a quiet night does not read a busy evening to its end', async () => {
  const evening = 4 * HOUR_MS;
  const [quiet, busy] = [perHour(0.01), perHour(20_000)];
  const store = storeOf([5], (from, to) => quiet(from, to) + busy(Math.min(from, evening), Math.min(to, evening)));
  const found: number[] = [];
  let searches = 1;
  for (let until: string | undefined; ; searches += 1) {
    const { took, reached, times } = await store.search(queryOf({ until }));
    // A window has at least 100 ms.
    expect(took).toBeLessThanOrEqual(LIMIT_MS + 100);
    found.push(...times);
    if (reached === null) break;
    until = reached.toISOString();
  }
  expect(found).toEqual([5]);
  // Regression: three times as many, each of which cancelled its second read. Reading the evening takes 80 seconds.
  expect(searches).toBeLessThan((80_000 / LIMIT_MS) * 1.25);
});

test('a first window that takes too long is read again in parts, until one takes less', async () => {
  // 15 seconds take 18 seconds.
  const store = storeOf([DAY_MS - 5], perHour(240 * 18_000));
  expect(await store.search(queryOf())).toMatchObject({
    reached: at(DAY_MS - 3750),
    times: [DAY_MS - 5],
    took: 14_500,
  });
});

// Regression: each of eight tries had 20 seconds.
test('a search that cannot read even a short window fails after 20 seconds in total', async () => {
  const endless = storeOf([], () => Infinity);
  await expect(endless.search(queryOf())).rejects.toThrow('BUSY');
  expect(endless.elapsed()).toBeGreaterThan(19_000);
  expect(endless.elapsed()).toBeLessThanOrEqual(MAX_SEARCH_MS);
});

test('a later page does not end early before it has rows', async () => {
  const times = Array.from({ length: 300 }, (_, i) => DAY_MS - 1 - i * 7500);
  const store = storeOf(times, perHour(60_000));
  const page = await store.search(queryOf({ page: 3 }));
  expect(page.times.length).toBeGreaterThan(0);
  expect(page.times).toEqual(times.slice(50, 50 + page.times.length));
});

test('a search is continued as a first page only', () => {
  const query = { startTime: at(0).toISOString(), endTime: at(DAY_MS).toISOString(), until: at(5).toISOString() };
  for (const schema of [LogQuery, WafLogQuery]) {
    expect(schema.safeParse(query).success).toBe(true);
    expect(schema.safeParse({ ...query, page: 2 }).error?.issues).toMatchObject([{ path: ['until'] }]);
  }
});

test('a search reads a short window when even that takes too long', async () => {
  const store = storeOf([], perHour(1_000_000));
  const { reached } = await store.search(queryOf());
  expect(reached).toEqual(at(DAY_MS - 15_000));
  expect((await store.search(queryOf({ until: reached?.toISOString() }))).reached).toEqual(at(DAY_MS - 30_000));
});

test('no row is missed or repeated at the borders of windows and searches', async () => {
  const times = Array.from({ length: 300 }, (_, i) => DAY_MS - 1 - i * 7500);
  const store = storeOf(times, perHour(5000));
  const query = { startTime: at(DAY_MS - 2_400_000).toISOString(), pageSize: 500 };
  const found: number[] = [];
  for (let until: string | undefined; ;) {
    const { times: page, reached, total } = await store.search(queryOf({ ...query, until }));
    expect(total).toBe(page.length);
    found.push(...page);
    if (reached === null) break;
    until = reached.toISOString();
  }
  expect(found).toEqual(times);
});

test('a search begins at the row before it', async () => {
  const store = storeOf([100, 200], perHour(0.1));
  const before = { time: at(200).toISOString(), id: 'a'.repeat(32) };
  await store.search(queryOf({ before }));
  expect(store.windows[0]?.to).toEqual(at(201));
  await store.search(queryOf({ before, until: at(150).toISOString() }));
  expect(store.windows.find(({ to }) => to.getTime() === START + 150)).toBeDefined();
  expect(await store.search(queryOf({ until: at(0).toISOString() }))).toMatchObject({ total: 0, reached: null });
});
