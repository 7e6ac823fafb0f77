import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { logBatch, logLine, logStore } from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { startClickHouse } from '../../../../tests/support/services/clickhouse.ts';
import { sql } from '../core/sql.ts';
import { clickHouseAccessLog } from './clickhouse.ts';
import { clickHouseOf } from './open.ts';
import { MAX_PENDING_BATCHES, ship } from './shipments.ts';

const server = await startClickHouse();
const app = await testApp({ CLICKHOUSE_URL: server.url });
const { pool } = app.installation;
const clickHouse = clickHouseOf(app.installation);
if (clickHouse === null) throw new Error('no ClickHouse');
afterAll(async () => {
  await app.close();
  await server.stop();
});

let site: Awaited<ReturnType<typeof app.build.site>>;
let node: { id: string };
beforeEach(async () => {
  site = await app.build.site();
  node = await app.build.node({ zone: site.zone });
});

const store = logStore(pool, clickHouseAccessLog(clickHouse));
/** Stores a batch of requests, and ships nothing. */
const add = (...uris: string[]) =>
  store.store(
    node.id,
    logBatch(uris.map((uri) => logLine(site.id, { uri })).join(''), 0, randomBytes(8).toString('hex')),
    new Date(),
  );
const stored = async () =>
  (
    await clickHouse.read<{ uri: string }>(
      sql`SELECT uri FROM access_log t WHERE t.site_id IN (${[site.id]}::Array(UUID))`,
    )
  )
    .map(({ uri }) => uri)
    .toSorted();
const pending = async () => (await pool.query('SELECT FROM pending_requests')).rowCount;

/** The process dies, or the reply is lost, before or after the insert. */
const broken = (isInserted: boolean) => ({
  async insert(rows: Readable | string, token: string | null) {
    if (isInserted) await clickHouse.insert(rows, token);
    throw new Error('cut');
  },
});

test('rows are in ClickHouse once, even if the reply to their insert was lost', async () => {
  await add('/1', '/2');
  await add('/3');
  await expect(ship(pool, broken(true))).rejects.toThrow('cut');
  expect(await stored()).toEqual(['/1', '/2', '/3']);
  // Later batches do not become part of the insert that is repeated.
  await add('/4');
  await expect(ship(pool, broken(true))).rejects.toThrow('cut');
  await ship(pool, clickHouse);
  expect(await stored()).toEqual(['/1', '/2', '/3', '/4']);
  expect(await pending()).toBe(0);
});

test('batches of the release before, whose rows lack the last column, are shipped with newer ones', async () => {
  await add('/old');
  const { rows } = await pool.query<{ id: string; data: Buffer }>('SELECT id, data FROM pending_requests');
  const before = gunzipSync(rows[0]?.data ?? Buffer.alloc(0)).toString();
  const data = gzipSync(before.replaceAll(/\t\n/g, '\n'));
  await pool.query('UPDATE pending_requests SET data = $1 WHERE id = $2', [data, rows[0]?.id]);
  await add('/new');
  await ship(pool, clickHouse);
  expect([await stored(), await pending()]).toEqual([['/new', '/old'], 0]);
});

test('rows of several days are in ClickHouse once, too', async () => {
  const lines = [0, 1, 2, 3].map((days) =>
    logLine(site.id, { uri: `/${days}`, time: Date.now() / 1000 - days * 86_400 }),
  );
  await store.store(node.id, logBatch(lines.join(''), 0, 'days'), new Date());
  await expect(ship(pool, broken(true))).rejects.toThrow('cut');
  await ship(pool, clickHouse);
  expect(await stored()).toEqual(['/0', '/1', '/2', '/3']);
});

test('requests wait in PostgreSQL while ClickHouse is away', async () => {
  await add('/1');
  await expect(ship(pool, broken(false))).rejects.toThrow('cut');
  await add('/2');
  expect([await stored(), await pending()]).toEqual([[], 2]);
  await ship(pool, clickHouse);
  expect([await stored(), await pending()]).toEqual([['/1', '/2'], 0]);
});

test('two processes ship each row once', async () => {
  for (let i = 0; i < 60; i += 1) await add(`/${i}`);
  await Promise.all([ship(pool, clickHouse), ship(pool, clickHouse), ship(pool, clickHouse)]);
  await ship(pool, clickHouse);
  expect((await stored()).length).toBe(60);
  expect(await pending()).toBe(0);
});

test('a batch that comes twice is stored once', async () => {
  const batch = logBatch(logLine(site.id, { uri: '/twice' }), 0, 'twice');
  await store.store(node.id, batch, new Date());
  await store.ship();
  await store.store(node.id, batch, new Date());
  await store.ship();
  expect(await stored()).toEqual(['/twice']);
});

test('a node keeps its lines while too many batches are pending', async () => {
  await add('/1');
  const { rows } = await pool.query<{ id: string }>('SELECT max(id) AS id FROM pending_requests');
  await pool.query(
    `INSERT INTO pending_requests (id, zone_id, first_at, last_at, lines, data)
     SELECT id - $1, zone_id, first_at, last_at, lines, data FROM pending_requests WHERE id = $2`,
    [MAX_PENDING_BATCHES, rows[0]?.id],
  );
  const batch = logBatch(logLine(site.id, { uri: '/2' }), 0, 'late');
  await expect(store.store(node.id, batch, new Date())).rejects.toThrow('too many are pending');
  await store.ship();
  expect(await store.store(node.id, batch, new Date())).toEqual({ reached: batch.to });
  await store.ship();
  expect(await stored()).toEqual(['/1', '/1', '/2']);
});
