// Copies requests from PostgreSQL to ClickHouse, hour by hour. A copy that was killed may run again: hours whose totals
// are equal on both sides are skipped, and all others are copied again.
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { sql } from '../core/sql.ts';
import { withClient } from '../node-link/transactions.ts';
import { accessLogColumns } from '../statistics/access-log.ts';
import type { ClickHouse } from './clickhouse-client.ts';

const HOUR_MS = 3_600_000;

export interface CopiedHour {
  /** Its start. */
  at: Date;
  rows: number;
  bytes: number;
  /** False: it was copied before. */
  isNew: boolean;
}

/** Oldest hour first. Throws if an hour differs after it was copied. */
export async function* copyRequests(pool: Pool, clickHouse: ClickHouse): AsyncGenerator<CopiedHour> {
  const { rows: bounds } = await pool.query<{ first: Date | null; last: Date | null }>(
    'SELECT min(at) AS first, max(at) AS last FROM access_log',
  );
  const { first = null, last = null } = bounds[0] ?? {};
  if (first === null || last === null) return;
  for (let at = first.getTime() - (first.getTime() % HOUR_MS); at <= last.getTime(); at += HOUR_MS) {
    const hour = new Date(at);
    const wanted = await totalInPostgres(pool, hour);
    const isNew = !areEqual(wanted, await totalInClickHouse(clickHouse, hour));
    if (isNew) {
      // Rows of a copy that was killed, or that lacks rows which came later.
      await clickHouse.command(`DELETE FROM access_log WHERE shipment = '${shipmentOf(hour)}'`);
      await copyHour(pool, clickHouse, hour);
      const copied = await totalInClickHouse(clickHouse, hour);
      if (!areEqual(await totalInPostgres(pool, hour), copied))
        throw new Error(`the hour of ${hour.toISOString()} differs after it was copied; run the command again`);
    }
    if (wanted.rows > 0) yield { at: hour, isNew, ...wanted };
  }
}

interface Total {
  rows: number;
  bytes: number;
}
const areEqual = (a: Total, b: Total) => a.rows === b.rows && a.bytes === b.bytes;

const endOf = (hour: Date) => new Date(hour.getTime() + HOUR_MS);

/** Rows of a copied hour have a shipment of their own, so that they never mix with those that nodes sent since. */
export function shipmentOf(hour: Date): string {
  const hex = createHash('sha256').update(`copy of ${hour.toISOString()}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

async function totalInPostgres(pool: Pool, hour: Date): Promise<Total> {
  const { rows } = await pool.query<Total>(
    `SELECT count(*)::float8 AS rows, coalesce(sum(bytes), 0)::float8 AS bytes FROM access_log WHERE at >= $1 AND at < $2`,
    [hour, endOf(hour)],
  );
  return rows[0] ?? { rows: 0, bytes: 0 };
}

async function totalInClickHouse(clickHouse: ClickHouse, hour: Date): Promise<Total> {
  const [total] = await clickHouse.read<Total>(
    sql`SELECT toFloat64(count()) AS rows, toFloat64(sum(t.bytes)) AS bytes FROM access_log t
    WHERE t.at >= ${hour} AND t.at < ${endOf(hour)} AND t.shipment = toUUID(${shipmentOf(hour)})`,
  );
  return total ?? { rows: 0, bytes: 0 };
}

/** In COPY's text format, which ClickHouse reads. */
const selected: Readonly<Record<string, string>> = {
  at: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  id: `replace(id::text, '-', '')`,
  address: 'host(address)',
};

/** The statement has no parameters: COPY takes none. All its parts are ours. */
const copyHour = (pool: Pool, clickHouse: ClickHouse, hour: Date): Promise<void> =>
  withClient(pool, (client) => {
    const columns = accessLogColumns.map((name) => selected[name] ?? name).join(', ');
    const times = `at >= '${hour.toISOString()}' AND at < '${endOf(hour).toISOString()}'`;
    const rows = client.query(
      copyTo(
        `COPY (SELECT ${columns}, '${shipmentOf(hour)}', row_number() OVER () FROM access_log WHERE ${times}) TO STDOUT`,
      ),
    );
    return clickHouse.insert(rows, null);
  });
