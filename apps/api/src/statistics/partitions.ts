// Partitions of the tables of logs and statistics. They are created ahead, or with the first line of their time, and
// dropped whole when they expire.
import pg, { type Pool, type PoolClient } from 'pg';
import type { Env } from '../core/env.ts';
import { lockClasses } from '../core/locks.ts';
import { ADDRESS_DAYS, TRAFFIC_DAYS } from './retention.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 2;
const LOCK_TIMEOUT_MS = 2000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Days for which each kind is kept; 0 stores none. */
export interface Retention {
  requests: number;
  sessions: number;
  topValues: number;
}

export const retentionOf = ({ ACCESS_LOG_DAYS, SESSION_LOG_DAYS, TOP_VALUES_DAYS }: Env): Retention => ({
  requests: ACCESS_LOG_DAYS,
  sessions: SESSION_LOG_DAYS ?? ACCESS_LOG_DAYS,
  topValues: TOP_VALUES_DAYS,
});

interface Partitioned {
  table:
    | 'traffic'
    | 'top_values'
    | 'top_groups'
    | 'address_sketches'
    | 'access_log'
    | 'l4_traffic'
    | 'l4_log'
    | 'kernel_drops';
  /** The step of sums in seconds. */
  step?: number;
  /** Days in one partition. */
  days: number;
  keepDays: number;
}

/** Sums in steps of a minute up to a day. */
const sumsOf = (table: Partitioned['table']): Partitioned[] => [
  { table, step: 60, days: 1, keepDays: TRAFFIC_DAYS[60] },
  { table, step: 300, days: 10, keepDays: TRAFFIC_DAYS[300] },
  { table, step: 3600, days: 100, keepDays: TRAFFIC_DAYS[3600] },
  { table, step: 86_400, days: 400, keepDays: TRAFFIC_DAYS[86_400] },
];

interface Partition extends Partitioned {
  name: string;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
}

function partitionAt(of: Partitioned, time: number): Partition {
  const length = of.days * DAY_MS;
  const from = Math.floor(time / length) * length;
  const day = new Date(from).toISOString().slice(0, 10).replaceAll('-', '');
  const name = [of.table, of.step, day].filter((part) => part !== undefined).join('_');
  return { ...of, name, from, to: from + length };
}

export class Partitions {
  readonly #pool: Pool;
  readonly #tables: readonly Partitioned[];
  /** Names of partitions that exist. */
  readonly #existing = new Set<string>();

  constructor(pool: Pool, { requests, sessions, topValues }: Retention) {
    this.#pool = pool;
    this.#tables = [
      ...sumsOf('traffic'),
      { table: 'top_values', days: 5, keepDays: topValues },
      { table: 'top_groups', days: 5, keepDays: topValues },
      { table: 'address_sketches', step: 3600, days: 5, keepDays: ADDRESS_DAYS[3600] },
      { table: 'address_sketches', step: 86_400, days: 50, keepDays: ADDRESS_DAYS[86_400] },
      { table: 'access_log', days: 1, keepDays: requests },
      ...sumsOf('l4_traffic'),
      ...sumsOf('kernel_drops'),
      { table: 'l4_log', days: 1, keepDays: sessions },
    ];
  }

  /** Rows before this time are not kept. In milliseconds since 1970; infinite: none are. */
  since(table: Partitioned['table'], now: number, step?: number): number {
    const keepDays = this.#tables.find((each) => each.table === table && each.step === step)?.keepDays ?? 0;
    return keepDays === 0 ? Infinity : now - keepDays * DAY_MS;
  }

  /** Creates what is missing for rows of these times, in milliseconds since 1970. */
  async ensure(times: Iterable<number>, now: number): Promise<void> {
    const missing = new Map<string, Partition>();
    for (const time of times)
      for (const of of this.#tables) {
        if (time < this.since(of.table, now, of.step)) continue;
        const partition = partitionAt(of, time);
        if (!this.#existing.has(partition.name)) missing.set(partition.name, partition);
      }
    if (missing.size === 0) return;
    await this.#inTurn(async (client) => {
      const { rows } = await client.query<{ name: string }>(
        'SELECT name FROM unnest($1::text[]) name WHERE to_regclass(name) IS NULL',
        [[...missing.keys()]],
      );
      for (const { name } of rows) {
        const partition = missing.get(name);
        if (partition) await client.query(createSql(partition));
      }
    });
    for (const name of missing.keys()) this.#existing.add(name);
  }

  /** Creates partitions ahead and drops expired ones. */
  async maintain(now: number): Promise<void> {
    const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, day) => now + day * DAY_MS);
    await this.ensure(days, now);
    const { rows } = await this.#pool.query<{ table: string; name: string }>(
      `SELECT inhparent::regclass::text AS table, inhrelid::regclass::text AS name FROM pg_inherits
       WHERE inhparent = ANY ($1::regclass[])`,
      [[...new Set(this.#tables.map(({ table }) => table))]],
    );
    const busy = new Set<string>();
    for (const { table, name } of rows)
      if (!busy.has(table) && this.#hasExpired(name, now) && !(await this.#drop(table, name))) busy.add(table);
  }

  /** Returns whether the partition is gone. A table that is read for long, as by a backup, is left for later. */
  async #drop(table: string, name: string): Promise<boolean> {
    try {
      await this.#inTurn(async (client) => {
        // Readers and writers of the table wait behind this statement.
        await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
          name,
        ]);
        if (rows[0]?.exists) await client.query(`ALTER TABLE ${table} DETACH PARTITION ${name}; DROP TABLE ${name}`);
      });
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false;
      throw error;
    }
    this.#existing.delete(name);
    return true;
  }

  /** One process at a time. */
  #inTurn(task: (client: PoolClient) => Promise<void>): Promise<void> {
    return withClient(this.#pool, (client) =>
      inTransaction(client, async () => {
        await client.query('SELECT pg_advisory_xact_lock($1, 0)', [lockClasses.partitions]);
        await task(client);
      }),
    );
  }

  #hasExpired(name: string, now: number): boolean {
    const [, day = ''] = /_(\d{8})$/.exec(name) ?? [];
    const from = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);
    const of = this.#tables.find((each) => partitionAt(each, from).name === name);
    return of !== undefined && from + (of.days + of.keepDays) * DAY_MS < now;
  }
}

/** Attached in a second step, which does not block readers and writers of the other partitions. */
function createSql({ name, table, step, from, to }: Partition): string {
  const bound = (time: number) => `(${step === undefined ? '' : `${step}, `}'${new Date(time).toISOString()}')`;
  return `CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL);
    ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ${bound(from)} TO ${bound(to)}`;
}
