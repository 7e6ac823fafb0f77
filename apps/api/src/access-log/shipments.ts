// The way of requests into ClickHouse. A batch's transaction in PostgreSQL stores its rows in `pending_requests`. One
// process at a time ships them: many batches are one insert, whose token makes its repetition harmless.
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { Pool, PoolClient } from 'pg';
import { locks } from '../core/locks.ts';
import { inSingleTransaction, inTransaction, withClient } from '../node-link/transactions.ts';
import { accessLogColumns, rowsOf } from '../statistics/access-log.ts';
import type { Partitions } from '../statistics/partitions.ts';
import { notifyBatch } from '../statistics/stored-batches.ts';
import type { NewRequests } from './access-log.ts';
import type { ClickHouse } from './clickhouse-client.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Each is smaller than its lines, MAX_BATCH_BYTES. Their rows are one block of ClickHouse, which is inserted whole. */
const BATCHES_AT_ONCE = 50;
/** About a gigabyte. When ClickHouse takes no more, nodes keep their lines. */
export const MAX_PENDING_BATCHES = 20_000;

/** Throws if ClickHouse is too far behind: the batch is not stored, and its node sends it again. */
export async function addShipment(client: PoolClient, partitions: Partitions, requests: NewRequests): Promise<void> {
  const rows = rowsOf(partitions, requests);
  if (rows.length === 0) return;
  const data = await compress(`${rows.join('\n')}\n`, { level: constants.Z_BEST_SPEED });
  const times = requests.lines.map(({ at }) => at);
  const { rowCount } = await client.query(
    `INSERT INTO pending_requests (zone_id, first_at, last_at, lines, data) SELECT $1, $2, $3, $4, $5
     WHERE (SELECT coalesce(max(id) - min(id), 0) FROM pending_requests) < $6`,
    [
      requests.zone,
      new Date(times.reduce((first, at) => Math.min(first, at), Infinity)),
      new Date(times.reduce((last, at) => Math.max(last, at), 0)),
      rows.length,
      data,
      MAX_PENDING_BATCHES,
    ],
  );
  if (rowCount === 0) throw new Error('ClickHouse takes no requests, and too many are pending');
}

interface PendingBatch {
  shipment: string;
  zone: string;
  from: Date;
  to: Date;
  lines: number;
  data: Buffer;
}

/** Ships all that is pending. Returns at once while another process does. */
export async function ship(pool: Pool, clickHouse: Pick<ClickHouse, 'insert'>): Promise<void> {
  await withClient(pool, async (client) => {
    while ((await openShipment(client)) && (await insertShipment(client, pool, clickHouse)));
  });
}

/** Chooses batches, unless a shipment is open. Committed first, so that a repeated insert has the same rows. */
const openShipment = (client: PoolClient): Promise<boolean> =>
  inTransaction(client, async () => {
    if (!(await lockShipments(client))) return false;
    await client.query(
      `UPDATE pending_requests p SET shipment = $1
       FROM (SELECT id FROM pending_requests ORDER BY id LIMIT $2) next
       WHERE p.id = next.id AND NOT EXISTS (SELECT FROM pending_requests WHERE shipment IS NOT NULL)`,
      [randomUUID(), BATCHES_AT_ONCE],
    );
    return true;
  });

/** Returns whether something was inserted. */
async function insertShipment(client: PoolClient, pool: Pool, clickHouse: Pick<ClickHouse, 'insert'>) {
  const batches = await inSingleTransaction(client, async () => {
    if (!(await lockShipments(client))) return [];
    const { rows } = await client.query<PendingBatch>(
      `SELECT shipment, zone_id AS zone, first_at AS from, last_at AS to, lines, data FROM pending_requests
       WHERE shipment IS NOT NULL ORDER BY id`,
    );
    const [first] = rows;
    if (first === undefined) return [];
    const texts = await Promise.all(rows.map(async ({ data }) => withAllColumns((await decompress(data)).toString())));
    let number = 0;
    // Line ends within values are escaped.
    const text = texts.join('').replaceAll('\n', () => `\t${first.shipment}\t${number++}\n`);
    await clickHouse.insert(text, first.shipment);
    await client.query('DELETE FROM pending_requests WHERE shipment = $1', [first.shipment]);
    return rows;
  });
  for (const [zone, ofZone] of Map.groupBy(batches, (batch) => batch.zone))
    await notifyBatch(pool, {
      zone,
      transaction: ofZone[0]?.shipment ?? '',
      from: Math.min(...ofZone.map(({ from }) => from.getTime())),
      to: Math.max(...ofZone.map(({ to }) => to.getTime())),
      lines: ofZone.reduce((sum, { lines }) => sum + lines, 0),
    });
  return batches.length > 0;
}

/** Batches of the release before lack the last columns, which are texts. Tabs within values are escaped. */
function withAllColumns(text: string): string {
  const columns = text.slice(0, text.indexOf('\n')).split('\t').length;
  const missing = accessLogColumns.length - columns;
  return missing > 0 ? text.replaceAll('\n', `${'\t'.repeat(missing)}\n`) : text;
}

async function lockShipments(client: PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ isLocked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isLocked"', [
    locks.shipments,
  ]);
  return rows[0]?.isLocked === true;
}
