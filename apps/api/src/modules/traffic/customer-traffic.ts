// Packages of customers and what is used of them. Unscoped: a replay needs all packages and sites of a customer, also
// those that the caller may not see. Callers pass customers that they have read through a scope.
import type { ClientBase, Pool } from 'pg';
import type { TrafficPackage as Row } from '../../generated/client.ts';
import { monthOf } from './billing-month.ts';
import { replay, replayFrom, type HourlyUsage, type Replay, type TrafficPackage } from './replay.ts';

export interface CustomerTraffic {
  packages: readonly TrafficPackage[];
  replay: Replay;
}

const NO_TRAFFIC: CustomerTraffic = { packages: [], replay: replay([], []) };

type Queryable = Pick<Pool | ClientBase, 'query'>;

/**
 * By customer. The figures are those of the month of `at`, and of all months for extra packages with history.
 * In milliseconds since 1970.
 */
export async function readCustomerTraffic(
  db: Queryable,
  ownerIDs: readonly string[],
  at: number,
  hasHistory: (packageId: string) => boolean = () => false,
): Promise<(ownerId: string) => CustomerTraffic> {
  const { from, to } = monthOf(at);
  const { rows } = await db.query<PackageRow>(
    `SELECT id, owner_id AS "ownerId", product_id AS "productId", type, bytes, starts_at AS "startsAt",
       ends_at AS "endsAt", sold_until AS "soldUntil" FROM traffic_packages WHERE owner_id = ANY ($1::uuid[])`,
    [ownerIDs],
  );
  const packagesOf = Map.groupBy(rows, ({ ownerId }) => ownerId);
  const customers = [...new Set(ownerIDs)].map((ownerId) => {
    const packages = (packagesOf.get(ownerId) ?? []).map(packageOf);
    const shown = packages.filter(({ id, type }) => type === 'extra' && hasHistory(id));
    const since = [from, ...shown.map((each) => monthOf(each.from).from)].map((month) => replayFrom(packages, month));
    return { ownerId, packages, since: Math.min(...since) };
  });
  const usage = await readHours(db, customers, to);
  const read = new Map(
    customers.map(({ ownerId, packages }) => [
      ownerId,
      { packages, replay: replay(packages, usage.get(ownerId) ?? []) },
    ]),
  );
  return (ownerId) => read.get(ownerId) ?? NO_TRAFFIC;
}

type PackageRow = Pick<Row, 'id' | 'ownerId' | 'productId' | 'type' | 'startsAt' | 'endsAt' | 'soldUntil'> & {
  bytes: string;
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
