import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { TAIL_ROWS, type LogFilter } from '@edgeloom/contract/logs/logs.ts';
import { afterAll, expect, test } from 'vitest';
import { addLogs, logLine } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';

// Lines are stored by this process and read by the app's listeners: they meet in PostgreSQL only.
const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

type Owner = Awaited<ReturnType<typeof build.site>>['owner'];

/** A reader that gets everything from now on. */
async function tailOf(owner: Owner, filter?: LogFilter, siteIDs?: string[]) {
  const leaving = new AbortController();
  const query = { ...(siteIDs && { siteIDs }), ...(filter && { filter: JSON.stringify(filter) }) };
  const stream = await as(owner).call(logs.tail, { query }, { signal: leaving.signal });
  const events = stream[Symbol.asyncIterator]();
  expect((await events.next()).value).toEqual({ rows: [], dropped: 0 });
  return {
    async next() {
      for (;;) {
        const { value, done } = await events.next();
        if (done) throw new Error('the stream ended');
        if (value.rows.length > 0 || value.dropped > 0) return value;
      }
    },
    leave: () => leaving.abort(),
  };
}

test('new rows come with their fields, filtered, and no older ones', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await addLogs(pool, id, [logLine(site.id, { uri: '/before' })]);
  const [all, some] = [
    await tailOf(site.owner),
    await tailOf(site.owner, { status: ['5xx'], not: { uri: ['health'] } }),
  ];
  await addLogs(pool, id, [
    logLine(site.id, { uri: '/a' }),
    logLine(site.id, { uri: '/b', status: 502 }),
    logLine(site.id, { uri: '/health', status: 502 }),
  ]);
  const first = await all.next();
  expect(first.rows.map(({ uri }) => uri).toSorted()).toEqual(['/a', '/b', '/health']);
  expect(first.rows[0]).toMatchObject({ siteID: site.id, nodeName: '', country: 'TW' });
  expect((await some.next()).rows.map(({ uri }) => uri)).toEqual(['/b']);
  all.leave();
  some.leave();
});

test('a reader sees sites of its own only', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const [own, foreign] = [await build.node({ zone: site.zone }), await build.node({ zone: other.zone })];
  await expect(tailOf(site.owner, undefined, [other.id])).rejects.toMatchObject({ status: 404 });
  const reader = await tailOf(site.owner);
  await addLogs(pool, foreign.id, [logLine(other.id, { uri: '/foreign' })]);
  await addLogs(pool, own.id, [logLine(site.id, { uri: '/own' })]);
  expect((await reader.next()).rows.map(({ uri }) => uri)).toEqual(['/own']);
  reader.leave();
});

test('requests of no site reach their operator, only where they are asked for', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const [all, none] = [await tailOf(site.client), await tailOf(site.client, { noSite: true })];
  await addLogs(pool, id, [logLine('', { uri: '/nobody' }), logLine(site.id, { uri: '/own' })]);
  expect((await none.next()).rows.map(({ uri }) => uri)).toEqual(['/nobody']);
  expect((await all.next()).rows.map(({ uri }) => uri)).toEqual(['/own']);
  all.leave();
  none.leave();
  const both = { siteIDs: [site.id], filter: '{"noSite":true}' };
  await expect(as(site.client).call(logs.tail, { query: both })).rejects.toMatchObject({
    envelope: { errorData: [{ path: 'noSite' }] },
  });
});

test('rows that are too many for one event are counted', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  const reader = await tailOf(site.owner);
  await addLogs(
    pool,
    id,
    Array.from({ length: TAIL_ROWS + 50 }, () => logLine(site.id)),
  );
  expect(await reader.next()).toMatchObject({ rows: { length: TAIL_ROWS }, dropped: 50 });
  reader.leave();
});

test('a wrong filter is refused with its path', async () => {
  const site = await build.site();
  const call = (filter: string) => as(site.owner).call(logs.tail, { query: { filter } });
  await expect(call('{')).rejects.toMatchObject({ status: 400, envelope: { errorData: [{ path: 'filter' }] } });
  await expect(call('{"status":["x"]}')).rejects.toMatchObject({ status: 400 });
});
