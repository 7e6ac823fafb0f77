import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, expect, test } from 'vitest';
import { logBatch, logLine, retention, sessionLine } from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { LogStore } from './log-store.ts';
import { retentionOf, type Retention } from './partitions.ts';

const app = await testApp({ TOP_VALUES_DAYS: '10' });
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const DAY_MS = 86_400_000;
const unknown = { country: '', province: '', isp: '' };
const openWith = (of: Retention) => new LogStore(pool, { lookup: () => unknown }, of);
const open = (requests: number) => openWith({ ...retention, requests });

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1',
    [table],
  );
  return rows.map(({ name }) => name);
}
const day = (time: number) => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

test('days are created ahead, and dropped when they expire', async () => {
  const start = Date.now();
  const store = open(3);
  await store.maintain(new Date(start));
  expect(await partitionsOf('access_log')).toEqual([0, 1, 2].map((i) => `access_log_${day(start + i * DAY_MS)}`));
  await store.maintain(new Date(start + 5 * DAY_MS));
  expect(await partitionsOf('access_log')).toEqual([2, 5, 6, 7].map((i) => `access_log_${day(start + i * DAY_MS)}`));
  expect(await partitionsOf('traffic')).toContain(`traffic_60_${day(start)}`);
  await store.maintain(new Date(start + 400 * DAY_MS));
  expect(await partitionsOf('traffic')).not.toContain(`traffic_60_${day(start)}`);
});

test('a table that a backup reads keeps its expired days until later, and takes lines meanwhile', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const start = Date.now();
  const store = open(3);
  await store.maintain(new Date(start));
  const expired = `access_log_${day(start)}`;
  const backup = await pool.connect();
  try {
    await backup.query('BEGIN; LOCK TABLE access_log IN ACCESS SHARE MODE');
    await store.maintain(new Date(start + 5 * DAY_MS));
    expect(await partitionsOf('access_log')).toContain(expired);
    await store.store(id, logBatch(logLine(site.id)), new Date());
  } finally {
    await backup.query('ROLLBACK');
    backup.release();
  }
  await store.maintain(new Date(start + 5 * DAY_MS));
  expect(await partitionsOf('access_log')).not.toContain(expired);
});

test('lines of any time that is kept find their partitions, older ones are left out', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const ago = (days: number) => logLine(site.id, { time: Date.now() / 1000 - days * 86_400 });
  await open(3).store(id, logBatch(ago(0) + ago(2) + ago(5) + ago(3000)), new Date());
  const count = async (sql: string) => (await pool.query<{ count: number }>(sql, [site.id])).rows[0]?.count;
  expect(await count('SELECT count(*)::int AS count FROM access_log WHERE site_id = $1')).toBe(2);
  expect(await count('SELECT sum(requests)::int AS count FROM traffic WHERE site_id = $1 AND step = 300')).toBe(3);
});

test('an installation may store sums only', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await open(0).store(id, logBatch(logLine(site.id)), new Date());
  const { rows } = await pool.query(
    `SELECT (SELECT count(*)::int FROM access_log WHERE site_id = $1) AS lines,
       (SELECT sum(requests)::int FROM traffic WHERE site_id = $1 AND step = 60) AS requests`,
    [site.id],
  );
  expect(rows).toEqual([{ lines: 0, requests: 1 }]);
});

test('two processes create and drop the same partitions at once', async () => {
  const start = Date.now();
  for (const days of [500, 600]) await Promise.all([1, 2].map(() => open(3).maintain(new Date(start + days * DAY_MS))));
  expect(await partitionsOf('access_log')).toEqual([600, 601, 602].map((i) => `access_log_${day(start + i * DAY_MS)}`));
});

test('requests, sessions and top values are kept for days of their own', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const now = Date.now();
  const times = [0, 5, 15].map((days) => ({ time: now / 1000 - days * 86_400 }));
  const store = openWith({ requests: 3, sessions: 6, topValues: 10 });
  await store.store(id, logBatch(times.map((time) => logLine(site.id, time)).join('')), new Date(now));
  const sessions = logBatch(times.map((time) => sessionLine(site.id, time)).join(''), 0, 'sessions');
  await store.store(id, { ...sessions, kind: 'sessions' }, new Date(now));
  await store.mergeTops(new Date(now));
  const counts = async () => {
    const { rows } = await pool.query<Record<string, number>>(
      `SELECT (SELECT count(*)::int FROM access_log WHERE site_id = $1) AS requests,
         (SELECT count(*)::int FROM l4_log WHERE site_id = $1) AS sessions,
         (SELECT count(*)::int FROM top_values WHERE site_id = $1 AND type = $2) AS methods`,
      [site.id, topTypes.method],
    );
    return rows[0];
  };
  expect(await counts()).toEqual({ requests: 1, sessions: 2, methods: 2 });
  // A partition of top values has five days.
  await store.maintain(new Date(now + 4.5 * DAY_MS));
  expect(await counts()).toEqual({ requests: 0, sessions: 1, methods: 2 });
  await store.maintain(new Date(now + 16 * DAY_MS));
  expect(await counts()).toEqual({ requests: 0, sessions: 0, methods: 0 });
});

test('addresses of late lines are counted for as long as sketches are kept, whatever it is for top values', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const now = Date.now();
  const lines = [0, 15, 100, 500].map((days) => logLine(site.id, { time: now / 1000 - days * 86_400 }));
  const store = openWith({ ...retention, topValues: 10 });
  await store.store(id, logBatch(lines.join('')), new Date(now));
  await store.mergeTops(new Date(now));
  const { rows } = await pool.query(
    `SELECT step, count(*)::int AS sketches FROM address_sketches WHERE site_id = $1 GROUP BY 1 ORDER BY 1`,
    [site.id],
  );
  expect(rows).toEqual([
    { step: 3600, sketches: 2 },
    { step: 86_400, sketches: 3 },
  ]);
});

test('sessions are kept as long as requests unless it is set', () => {
  const { env } = installation;
  expect(retentionOf(env)).toEqual({ requests: 8, sessions: 8, topValues: 10 });
  expect(retentionOf({ ...env, ACCESS_LOG_DAYS: 0 }).sessions).toBe(0);
  expect(retentionOf({ ...env, SESSION_LOG_DAYS: 30 })).toEqual({ requests: 8, sessions: 30, topValues: 10 });
});

test('tops begin when their values do', async () => {
  const site = await build.site();
  const body = { type: topTypes.method, timeInterval: 'thirtyDays' } as const;
  const { from } = await as(site.owner).call(statistics.top, { body });
  expect(Date.parse(from)).toBeGreaterThanOrEqual(Date.now() - 10 * DAY_MS);
});
