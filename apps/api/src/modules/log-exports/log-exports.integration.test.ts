import { gunzipSync } from 'node:zlib';
import { logExports } from '@edgeloom/contract/log-exports/log-exports.endpoints.ts';
import { LogExportType } from '@edgeloom/contract/log-exports/log-exports.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { LogSearch } from '@edgeloom/contract/logs/logs.ts';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { addLogs, addSessions, logLine, sessionLine } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';
import { sweepLogExports } from '../../jobs/run-log-exports.job.ts';
import { claimExport, runExport } from '../../log-exports/run-export.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool, db } = installation;
afterAll(() => app.close());

const MINUTE = 60_000;
const query = () => ({
  startTime: new Date(Date.now() - 60 * MINUTE).toISOString(),
  endTime: new Date(Date.now() + MINUTE).toISOString(),
});
type Owner = Awaited<ReturnType<typeof build.site>>['owner'];
const allTypes = LogExportType.options;
const apply = (owner: Owner, body: object = {}) =>
  as(owner).call(logExports.create, { body: { query: query(), ...body } });
const text = async (owner: Owner, id: string) => {
  const file = await as(owner).call(logExports.file, { params: { id } });
  return gunzipSync(Buffer.from(await file.arrayBuffer())).toString();
};
const ndjson = async (owner: Owner, id: string): Promise<{ id: string; [field: string]: unknown }[]> =>
  (await text(owner, id))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
/** Runs what waits as a background process does. */
async function runAll(signal = new AbortController().signal) {
  for (let claimed = await claimExport(pool); claimed; claimed = await claimExport(pool))
    await runExport(installation, claimed, signal);
}
const secondsAgo = (seconds: number) => Date.now() / 1000 - seconds;

async function siteWithLogs(lines: number, uri: (i: number) => string = (i) => `/${i}`) {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const rows = Array.from({ length: lines }, (_, i) => logLine(site.id, { uri: uri(i), time: secondsAgo(lines - i) }));
  await addLogs(pool, id, rows);
  return site;
}

test('a CSV file has every row of the search once, oldest first, without formulas', async () => {
  const hostile = ['=1+1', '+1', '-1', '@a', '\t=1', '"; =1', ';=1'];
  const site = await siteWithLogs(hostile.length, (i) => hostile[i] ?? '');
  const { id, status } = await apply(site.owner);
  expect(status).toBe('waiting');
  await expect(text(site.owner, id)).rejects.toMatchObject({ status: 404 });
  await runAll();
  expect(await as(site.owner).call(logExports.get, { params: { id } })).toMatchObject({
    status: 'success',
    progress: 1,
    rows: hostile.length,
    isCut: false,
  });
  const csv = await text(site.owner, id);
  expect(csv).toMatch(/^\uFEFF"?id"?,/);
  expect(csv).not.toContain('nodeName');
  for (const part of [`"'=1+1"`, `"'+1"`, `"'-1"`, `"'@a"`, `"'\t=1"`, `"""; =1"`, `";=1"`])
    expect(csv).toContain(part);
});

/** Rows that an export of the type has. */
async function addRows(type: LogExportType, nodeID: string, siteID: string, count: number, time: number) {
  const finding = type === 'waf' ? { cause: 'waf', rule: 'monitor/files-dump' } : {};
  const lines = Array.from({ length: count }, () =>
    type === 'sessions' ? sessionLine(siteID, { time }) : logLine(siteID, { time, ...finding }),
  );
  await (type === 'sessions' ? addSessions : addLogs)(pool, nodeID, lines);
}

test.each(allTypes)(
  'a run of an export of %s that is killed between two chunks is continued by another process',
  async (type) => {
    const site = await build.site();
    const { id: node } = await build.node({ zone: site.zone });
    for (let batch = 0; batch < 8; batch += 1) await addRows(type, node, site.id, 800, secondsAgo(1000 - batch));
    const { id } = await apply(site.owner, { type, format: 'ndjson' });
    const dead = await claimExport(pool);
    const killed = new AbortController();
    // The process dies after its first chunk, still with its lease.
    const running = runExport(
      { ...installation, pool: Object.assign(Object.create(pool), { query: killAfterChunk(killed) }) },
      dead ??
        (() => {
          throw new Error('nothing was claimed');
        })(),
      killed.signal,
    );
    await running.catch(() => undefined);
    expect(await claimExport(pool)).toBeNull();
    const between = await as(site.owner).call(logExports.get, { params: { id } });
    expect(between).toMatchObject({ type, status: 'processing', rows: 5000 });
    expect(between.progress).toBeGreaterThan(0);
    await pool.query(`UPDATE log_exports SET claimed_until = now() - interval '1 second' WHERE id = $1`, [id]);
    await runAll();
    const ids = (await ndjson(site.owner, id)).map((row) => row.id);
    expect(ids).toHaveLength(6400);
    expect(new Set(ids).size).toBe(6400);
  },
);

/** Passes queries on up to the first stored chunk. Later ones fail, as of a process without network. */
function killAfterChunk(killed: AbortController) {
  let isDead = false;
  return async (...args: unknown[]) => {
    if (isDead) throw new Error('killed');
    const result: unknown = await Reflect.apply(pool.query, pool, args);
    if (String(args[0]).includes('log_export_chunks')) {
      isDead = true;
      killed.abort();
    }
    return result;
  };
}

test('an account has three exports at once and ten a day of all types, however many calls come together', async () => {
  const site = await siteWithLogs(1);
  const six = [...allTypes, ...allTypes];
  const together = await Promise.allSettled(six.map((type) => apply(site.owner, { type })));
  expect(together.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  await expect(apply(site.owner)).rejects.toMatchObject({
    status: 429,
    envelope: { code: 601_001, extra: { records: 3 } },
  });
  for (let more = 3; more < 10; more += 1) {
    await runAll();
    const { id } = await apply(site.owner, { type: six[more % 3] });
    // A removed export still counts.
    await as(site.owner).call(logExports.remove, { body: { ids: [id] } });
  }
  await runAll();
  await expect(apply(site.owner)).rejects.toMatchObject({
    status: 429,
    envelope: { code: 601_002, extra: { num: 10 } },
  });
  const { data, total } = await as(site.owner).call(logExports.list, {});
  expect(total).toBe(3);
  for (const type of allTypes) {
    const ofType = await as(site.owner).call(logExports.list, { query: { type } });
    expect(ofType.total).toBe(data.filter((each) => each.type === type).length);
  }
});

test('a failed export is retried, and one of another account is not found', async () => {
  const site = await siteWithLogs(3);
  const other = await build.site();
  const { id } = await apply(site.owner);
  const [params, body] = [{ id }, { ids: [id] }];
  for (const who of [other.owner, site.client]) {
    await expect(as(who).call(logExports.get, { params })).rejects.toMatchObject({ status: 404 });
    await expect(as(who).call(logExports.file, { params })).rejects.toMatchObject({ status: 404 });
    await expect(as(who).call(logExports.retry, { body })).rejects.toMatchObject({ status: 404 });
    await expect(as(who).call(logExports.remove, { body })).rejects.toMatchObject({ status: 404 });
  }
  await expect(as(site.owner).call(logExports.retry, { body })).rejects.toMatchObject({ status: 409 });
  await db.logExport.update({ where: { id }, data: { status: 'fail' } });
  await as(site.owner).call(logExports.retry, { body });
  await runAll();
  expect((await as(site.owner).call(logExports.get, { params })).rows).toBe(3);
});

test.each(allTypes)('the rows of %s are of sites that the account sees while the file is written', async (type) => {
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  await addRows(type, node.id, site.id, 3, secondsAgo(10));
  const [operators, customers] = [
    await apply(site.client, { type, format: 'ndjson' }),
    await apply(site.owner, { type }),
  ];
  const foreign = await build.site();
  await expect(apply(foreign.owner, { type, query: { ...query(), siteIDs: [site.id] } })).rejects.toMatchObject({
    status: 404,
  });
  await runAll();
  expect((await ndjson(site.client, operators.id)).map((row) => [row['siteID'], row['nodeName']])).toEqual(
    Array.from({ length: 3 }, () => [site.id, node.name]),
  );
  expect(await as(site.owner).call(logExports.get, { params: { id: customers.id } })).toMatchObject({ rows: 3 });
  expect(await text(site.owner, customers.id)).not.toContain(node.name);

  const { id } = await apply(site.client, { type });
  await db.site.update({ where: { id: site.id }, data: { clientId: foreign.clientId } });
  await runAll();
  expect(await as(site.client).call(logExports.get, { params: { id } })).toMatchObject({ status: 'success', rows: 0 });
});

test('a file of findings has their explanations without formulas, and one of sessions has their fields', async () => {
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const waf = { score: 5.5, points: 9, rules: [], place: 'query', name: '@id', excerpt: '=1+1', tokens: [] };
  await addLogs(pool, node.id, [
    logLine(site.id, { uri: '/ordinary' }),
    logLine(site.id, { cause: 'waf', rule: 'sqli-union-select', status: 403, waf: JSON.stringify(waf) }),
    logLine(site.id, { cause: 'waf', rule: 'monitor/files-dump', status: 200 }),
  ]);
  await addSessions(pool, node.id, [sessionLine(site.id), sessionLine(site.id, { status: 503, upstream: '' })]);
  const findings = await apply(site.owner, { type: 'waf', query: { ...query(), action: 'blocked' } });
  const sessions = await apply(site.owner, { type: 'sessions', query: { ...query(), outcomes: ['dropped'] } });
  const whole = await apply(site.owner, { type: 'sessions', format: 'ndjson' });
  await runAll();
  const [header, ...rows] = (await text(site.owner, findings.id)).trim().split('\n');
  expect(header).toMatch(/,"ruleID","category","action","score","points","place","name","excerpt"$/);
  expect(header).not.toContain('nodeName');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toContain(`"sqli-union-select","sqli","blocked",5.5,9,"query","'@id","'=1+1"`);
  const [sessionHeader, ...dropped] = (await text(site.owner, sessions.id)).trim().split('\n');
  expect(sessionHeader).toMatch(/^"id","time","siteID","siteName","forwardID","nodeID","protocol","port","address",/);
  expect(dropped).toHaveLength(1);
  expect(dropped[0]).toContain('"dropped",503,');
  const { data } = await as(site.owner).call(logs.sessions, { body: query() });
  expect((await ndjson(site.owner, whole.id)).toSorted(byId)).toEqual(data.toSorted(byId));
});
const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);

test('a query has the filters of its type only', async () => {
  const site = await build.site();
  for (const [type, filter] of [
    ['access', { outcomes: ['dropped'] }],
    ['waf', { cause: ['acl'] }],
    ['sessions', { ruleIDs: ['sqli-union-select'] }],
    ['sessions', { endTime: new Date(Date.now() + 48 * 60 * MINUTE).toISOString() }],
    ['errors', {}],
  ] as const)
    await expect(
      apply(site.owner, { type, query: { ...query(), ...filter } }),
      `${type} ${JSON.stringify(filter)}`,
    ).rejects.toMatchObject({ status: 400 });
});

test('the release before lists exports of every type, and writes only those of requests', async () => {
  const site = await siteWithLogs(1);
  for (const type of allTypes) await apply(site.owner, { type });
  // The position in its form.
  const Reached = z.object({ site: z.string(), at: z.string(), id: z.string(), place: z.string().optional() });
  for (const row of await db.logExport.findMany({ where: { accountId: site.owner.id } })) {
    expect(row.type).toBe('access');
    expect(LogSearch.safeParse(row.query).success).toBe(true);
    expect(row.reached === null || Reached.safeParse(row.reached).success).toBe(row.log === 'access');
  }
  // Rows that it created have no other type.
  const data = { type: 'access', format: 'csv', query: query(), expiresAt: new Date(Date.now() + MINUTE) };
  const { id } = await db.logExport.create({ data: { accountId: site.client.id, ...data } });
  await runAll();
  expect(await as(site.client).call(logExports.get, { params: { id } })).toMatchObject({ type: 'access', rows: 1 });
});

test('a file is deleted when it expires', async () => {
  const site = await siteWithLogs(1);
  const { id, expiresAt } = await apply(site.owner);
  await runAll();
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / (24 * 60 * MINUTE))).toBe(7);
  await db.logExport.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1000) } });
  await sweepLogExports(installation);
  expect(await db.logExportChunk.count({ where: { logExportId: id } })).toBe(0);
});

test('rows with the same time and id are all in the file once, across chunks', async () => {
  const site = await siteWithLogs(1);
  await pool.query(
    'INSERT INTO access_log SELECT t.* FROM access_log t, generate_series(1, 5001) WHERE t.site_id = $1',
    [site.id],
  );
  const { id } = await apply(site.owner, { format: 'ndjson' });
  await runAll();
  expect((await text(site.owner, id)).trim().split('\n')).toHaveLength(5002);
  const { data } = await as(site.owner).call(logs.access, { body: { ...query(), pageSize: 10 } });
  expect(data).toHaveLength(10);
});

test('an operator has a running export at a time, and others do not wait for it', async () => {
  const [site, other] = [await siteWithLogs(1), await siteWithLogs(1)];
  const second = await build.site({ product: site.product });
  const ids = [await apply(site.owner), await apply(second.owner), await apply(other.owner)].map(({ id }) => id);
  const claimed = [await claimExport(pool), await claimExport(pool), await claimExport(pool)];
  expect(claimed.map((each) => each?.id)).toEqual([ids[0], ids[2], undefined]);
  await pool.query('UPDATE log_exports SET claimed_until = NULL');
  await runAll();
});

test('all accounts of an operator share limits of exports', async () => {
  const site = await build.site();
  const second = await build.site({ product: site.product });
  const { id } = await apply(second.owner);
  await pool.query(
    `INSERT INTO log_exports (id, account_id, type, format, query, expires_at)
     SELECT gen_random_uuid(), account_id, type, format, query, expires_at FROM log_exports, generate_series(1, 19) WHERE id = $1`,
    [id],
  );
  await expect(apply(site.owner)).rejects.toMatchObject({ status: 429, envelope: { code: 601_001 } });
  await pool.query(`UPDATE log_exports SET status = 'success', bytes = 1200000000 WHERE account_id = $1`, [
    second.owner.id,
  ]);
  await expect(apply(site.owner)).rejects.toMatchObject({ status: 409 });
  await pool.query(`UPDATE log_exports SET bytes = 1 WHERE account_id = $1`, [second.owner.id]);
  await pool.query(`UPDATE log_export_days SET exports = 100 WHERE account_id = $1`, [second.owner.id]);
  await expect(apply(site.owner)).rejects.toMatchObject({ status: 429, envelope: { code: 601_002 } });
  await pool.query(`UPDATE log_export_days SET exports = 99 WHERE account_id = $1`, [second.owner.id]);
  await apply(site.owner);
  await pool.query('DELETE FROM log_exports');
});
