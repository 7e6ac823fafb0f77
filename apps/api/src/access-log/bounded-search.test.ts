import { LogQuery, LOGS_COUNTED } from '@edgeloom/contract/logs/logs.ts';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { searchBackwards, type SearchWindow } from './bounded-search.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-11-20T00:00:00.123Z');
const LIMIT_MS = 250;
const at = (ms: number) => new Date(START + ms);

const queryOf = (rest: Partial<z.input<typeof LogQuery>> = {}) =>
  LogQuery.parse({ startTime: at(0).toISOString(), endTime: at(DAY_MS).toISOString(), ...rest });

/** Requests at these milliseconds after the start. Reading a window takes some time, and more for each hour of it. */
function storeOf(times: readonly number[], msPerHour: number, msPerWindow = 0) {
  let clock = 0;
  const windows: SearchWindow[] = [];
  const newestFirst = times.toSorted((a, b) => b - a);
  return {
    windows,
    search: async (query: LogQuery) => {
      const started = clock;
      const result = await searchBackwards(
        query,
        { limitMs: LIMIT_MS, firstMs: 15_000 },
        ({ ...window }) => {
          windows.push(window);
          const { from, to, offset, pageSize, limit } = window;
          clock += msPerWindow + ((to.getTime() - from.getTime()) / 3_600_000) * msPerHour;
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
  const store = storeOf(times, 0.1);
  const first = await store.search(queryOf());
  expect(first).toMatchObject({ total: 300, reached: null, times: times.toReversed().slice(0, 25) });
  const second = await store.search(queryOf({ page: 2 }));
  expect(second).toMatchObject({ total: 300, reached: null, times: times.toReversed().slice(25, 50) });
});

test('a search ends when it has counted enough, before the start of the period', async () => {
  const times = Array.from({ length: 20_000 }, (_, i) => DAY_MS - 1 - i);
  const store = storeOf(times, 0.1);
  expect(await store.search(queryOf())).toMatchObject({ total: LOGS_COUNTED, reached: null });
  expect(store.windows).toHaveLength(1);
  const deep = await store.search(queryOf({ page: 31, pageSize: 500 }));
  expect([deep.total, deep.times[0], deep.times.length]).toEqual([LOGS_COUNTED, DAY_MS - 1 - 30 * 500, 500]);
  expect(store.windows).toHaveLength(3);
});

test.each([10, 1000])(
  'reading an hour in %d ms, a search without matches ends in time and continues to the start of the day',
  async (msPerHour) => {
    const store = storeOf([5], msPerHour);
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

test('windows also grow where each read takes long, whatever its length', async () => {
  const store = storeOf([5], 0.1, 50);
  let searches = 1;
  for (let until: string | undefined; ; searches += 1) {
    const { reached } = await store.search(queryOf({ until }));
    if (reached === null) break;
    until = reached.toISOString();
  }
  // With windows of 15 seconds, they would be more than a thousand.
  expect(searches).toBeLessThan(150);
});

test('a search reads a short window when even that takes too long', async () => {
  const store = storeOf([], 1_000_000);
  const { reached } = await store.search(queryOf());
  expect(reached).toEqual(at(DAY_MS - 15_000));
  expect((await store.search(queryOf({ until: reached?.toISOString() }))).reached).toEqual(at(DAY_MS - 30_000));
});

test('no row is missed or repeated at the borders of windows and searches', async () => {
  const times = Array.from({ length: 300 }, (_, i) => DAY_MS - 1 - i * 7500);
  const store = storeOf(times, 5000);
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
  const store = storeOf([100, 200], 0.1);
  const before = { time: at(200).toISOString(), id: 'a'.repeat(32) };
  await store.search(queryOf({ before }));
  expect(store.windows[0]?.to).toEqual(at(201));
  await store.search(queryOf({ before, until: at(150).toISOString() }));
  expect(store.windows.find(({ to }) => to.getTime() === START + 150)).toBeDefined();
  expect(await store.search(queryOf({ until: at(0).toISOString() }))).toMatchObject({ total: 0, reached: null });
});
