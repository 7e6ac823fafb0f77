// Packages of customers and what is used of them. Unscoped: a replay needs all packages and sites of a customer, also
// those that the caller may not see. Callers pass customers that they have read through a scope.
import type { ClientBase, Pool } from 'pg';
import type { TrafficPackage as Row } from '../../generated/client.ts';
import { inTransaction, withClient } from '../../node-link/transactions.ts';
import { monthOf } from '../../statistics/billing-month.ts';
import { replay, type HourlyUsage, type Replay, type TrafficPackage } from './package-usage.ts';

export interface CustomerTraffic {
  packages: readonly TrafficPackage[];
  replay: Replay;
}

const NO_TRAFFIC: CustomerTraffic = { packages: [], replay: replay([], []) };
/** Bounds the hours that are read at once. */
const CUSTOMERS_AT_ONCE = 50;

type Queryable = Pick<Pool | ClientBase, 'query'>;

/** By customer: the figures of the month of `at`, in milliseconds since 1970, and what packages used until its end. */
export async function readCustomerTraffic(
  db: Queryable,
  ownerIDs: readonly string[],
  at: number,
): Promise<(ownerId: string) => CustomerTraffic> {
  const read = new Map<string, CustomerTraffic>();
  const owners = [...new Set(ownerIDs)];
  for (let i = 0; i < owners.length; i += CUSTOMERS_AT_ONCE)
    for (const [ownerId, traffic] of await readSome(db, owners.slice(i, i + CUSTOMERS_AT_ONCE), at))
      read.set(ownerId, traffic);
  return (ownerId) => read.get(ownerId) ?? NO_TRAFFIC;
}

async function readSome(db: Queryable, ownerIDs: readonly string[], at: number): Promise<[string, CustomerTraffic][]> {
  const month = monthOf(at);
  const { rows } = await db.query<PackageRow>(
    `SELECT p.id, p.owner_id AS "ownerId", p.covered_product_id AS "productId", p.type, p.bytes, p.starts_at AS "startsAt",
       p.ends_at AS "endsAt", p.sold_until AS "soldUntil", c.counted_until AS "countedUntil",
       coalesce((SELECT json_agg(json_build_array(extract(epoch FROM m.month) * 1000, m.bytes::text))
         FROM traffic_package_months m WHERE m.package_id = p.id AND m.month < c.counted_until), '[]') AS counted
     FROM traffic_packages p LEFT JOIN traffic_checks c ON c.owner_id = p.owner_id WHERE p.owner_id = ANY ($1::uuid[])`,
    [ownerIDs],
  );
  const customers = [...Map.groupBy(rows, ({ ownerId }) => ownerId)].map(([ownerId, own]) => {
    const packages = own.map(packageOf);
    const since = replayFrom(packages, month.from, own[0]?.countedUntil?.getTime() ?? -Infinity);
    const used = own.map(({ id, counted }) => [id, sumBefore(counted, since)] as const);
    return { ownerId, packages, since, usedEarlier: new Map(used) };
  });
  const usage = await readHours(db, customers, month.to);
  return customers.map(({ ownerId, packages, usedEarlier }) => [
    ownerId,
    { packages, replay: replay(packages, usage.get(ownerId) ?? [], usedEarlier) },
  ]);
}

/** The month from which usage is needed: extra packages share hours, so all that last beyond `countedUntil` count. */
function replayFrom(packages: readonly TrafficPackage[], month: number, countedUntil: number): number {
  const starts = packages
    .filter(({ type, to }) => type === 'extra' && (to === null || to > countedUntil))
    .map(({ from }) => Math.max(countedUntil, monthOf(from).from));
  return Math.min(month, ...starts);
}

const sumBefore = (counted: PackageRow['counted'], since: number): bigint =>
  counted.reduce((sum, [month, bytes]) => (month < since ? sum + BigInt(bytes) : sum), 0n);

/**
 * Stores what extra packages used in the months before, so that their history is not read again. The lock makes late
 * lines wait, or waits for them.
 */
export const countMonths = (pool: Pool, ownerId: string, until: number): Promise<void> =>
  withClient(pool, (client) =>
    inTransaction(client, async () => {
      const { rows } = await client.query<{ countedUntil: Date | null }>(
        'SELECT counted_until AS "countedUntil" FROM traffic_checks WHERE owner_id = $1 FOR UPDATE',
        [ownerId],
      );
      const since = rows[0]?.countedUntil?.getTime() ?? -Infinity;
      if (rows.length === 0 || since >= until) return;
      const { packages, replay } = (await readCustomerTraffic(client, [ownerId], until - 1))(ownerId);
      const months = packages
        .filter(({ type }) => type === 'extra')
        .flatMap(({ id, from, to }) => monthsBetween(Math.max(since, from), Math.min(until, to ?? Infinity), id));
      const used = months.map(({ id, month }) => ({ id, month, bytes: String(replay.usedIn(id, month)) }));
      await client.query(`DELETE FROM traffic_package_months WHERE package_id = ANY ($1::uuid[]) AND month >= $2`, [
        packages.map(({ id }) => id),
        new Date(Math.max(since, 0)),
      ]);
      await client.query(
        `INSERT INTO traffic_package_months (package_id, month, bytes)
         SELECT r.id, to_timestamp(r.month / 1000), r.bytes
         FROM json_to_recordset($1) AS r (id uuid, month float8, bytes bigint) WHERE r.bytes > 0`,
        [JSON.stringify(used)],
      );
      await client.query('UPDATE traffic_checks SET counted_until = $2 WHERE owner_id = $1', [
        ownerId,
        new Date(until),
      ]);
    }),
  );

function monthsBetween(from: number, to: number, id: string): { id: string; month: number }[] {
  const months = [];
  for (let month = monthOf(from); month.from < to; month = monthOf(month.to)) months.push({ id, month: month.from });
  return months;
}

type PackageRow = Pick<Row, 'id' | 'ownerId' | 'productId' | 'type' | 'startsAt' | 'endsAt' | 'soldUntil'> & {
  bytes: string;
  countedUntil: Date | null;
  /** Months, in milliseconds since 1970, and bytes. */
  counted: [number, string][];
};

const packageOf = ({ id, productId, type, bytes, startsAt, endsAt, soldUntil }: PackageRow): TrafficPackage => ({
  id,
  productId,
  type: type === 'basic' ? 'basic' : 'extra',
  bytes: BigInt(bytes),
  from: startsAt.getTime(),
  to: endsAt?.getTime() ?? null,
  soldTo: soldUntil?.getTime() ?? null,
});

async function readHours(
  db: Queryable,
  customers: readonly { ownerId: string; since: number }[],
  until: number,
): Promise<ReadonlyMap<string, HourlyUsage[]>> {
  const { rows } = await db.query<{ ownerId: string; productId: string; hour: number; bytes: string }>(
    `SELECT u.owner_id AS "ownerId", u.product_id AS "productId", (extract(epoch FROM u.hour) * 1000)::float8 AS hour,
       sum(u.bytes)::text AS bytes
     FROM unnest($1::uuid[], $2::timestamptz[]) c (owner_id, since)
     JOIN traffic_usages u ON u.owner_id = c.owner_id AND u.hour >= c.since AND u.hour < $3
     GROUP BY 1, 2, 3`,
    [customers.map(({ ownerId }) => ownerId), customers.map(({ since }) => new Date(since)), new Date(until)],
  );
  const hours = rows.map(({ bytes, ...row }) => ({ ...row, bytes: BigInt(bytes) }));
  return Map.groupBy(hours, ({ ownerId }) => ownerId);
}
