// Compares the traffic of customers with their packages: takes sites out of service and puts them back, and mails
// notices. Runs in every process with a lease per customer.
import type { FastifyBaseLogger } from 'fastify';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../core/changes.ts';
import type { Installation } from '../core/installation.ts';
import type { PrismaClient } from '../generated/client.ts';
import { monthOf } from '../modules/traffic/billing-month.ts';
import { readCustomerTraffic } from '../modules/traffic/customer-traffic.ts';
import { allowanceOf, type Allowance } from '../modules/traffic/replay.ts';
import { repeat } from '../node-link/repeat.ts';

const CHECK_INTERVAL_MS = 10_000;
/** With the check interval less than the minute within which a limit must be served. Also the lease of a customer. */
const DUE_SECONDS = 20;
const BATCH = 50;

/** Customers with packages, and customers whose sites are limited because of packages that are gone. */
const FIND = `INSERT INTO traffic_checks (owner_id, due_at)
  SELECT a.id, $1 FROM accounts a
  WHERE EXISTS (SELECT FROM traffic_packages p WHERE p.owner_id = a.id)
    OR EXISTS (SELECT FROM sites s WHERE s.owner_id = a.id AND s.status = 'limit')
  ON CONFLICT DO NOTHING`;
const TAKE = `UPDATE traffic_checks SET due_at = $1::timestamptz + interval '${DUE_SECONDS} seconds'
  WHERE owner_id IN (SELECT owner_id FROM traffic_checks WHERE due_at <= $1 ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
  RETURNING owner_id AS id`;

type Deps = Pick<Installation, 'db' | 'pool' | 'mail'>;

/** Returns the number of customers that were due. */
export async function limitTraffic(deps: Deps, now: Date): Promise<number> {
  const { db, pool } = deps;
  await pool.query(FIND, [now]);
  // The operator's own sites have no packages.
  await liftSites(db, { ownerId: null });
  const { rows } = await pool.query<{ id: string }>(TAKE, [now]);
  const owners = rows.map(({ id }) => id);
  const trafficOf = await readCustomerTraffic(pool, owners, now.getTime());
  const failures: unknown[] = [];
  for (const ownerId of owners) {
    const { packages, replay } = trafficOf(ownerId);
    const allowanceOfProduct = (productId: string) => allowanceOf(packages, replay, productId, now.getTime());
    // One customer's failure must not hold back the others of its batch.
    await applyLimits(deps, ownerId, now, allowanceOfProduct).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'customers whose traffic was not compared');
  return rows.length;
}

async function applyLimits(
  { db, mail }: Deps,
  ownerId: string,
  now: Date,
  allowanceOfProduct: (productId: string) => Allowance,
): Promise<void> {
  const products = await db.product.findMany({
    where: { sites: { some: { ownerId } } },
    select: { id: true, name: true, overLimitAction: true },
    orderBy: { name: 'asc' },
  });
  const states = products.map((product) => ({ ...product, ...allowanceOfProduct(product.id) }));
  const limited = states.filter(({ state, overLimitAction }) => state === 'limited' && overLimitAction === 'limit');
  const productIDs = limited.map(({ id }) => id);
  await setStatus(db, { ownerId, productId: { in: productIDs } }, 'normal', 'limit');
  await liftSites(db, { ownerId, productId: { notIn: productIDs } });
  await notify({ db, mail }, ownerId, monthOf(now.getTime()).from, states);
}

const liftSites = (db: PrismaClient, where: SiteFilter) => setStatus(db, where, 'limit', 'normal');

interface SiteFilter {
  ownerId: string | null;
  productId?: { in: string[] } | { notIn: string[] };
}

/** Sites with another status than `from`, such as those that the operator paused meanwhile, stay as they are. */
async function setStatus(db: PrismaClient, where: SiteFilter, from: Status, to: Status): Promise<void> {
  if ((await db.site.count({ where: { ...where, status: from } })) === 0) return;
  await db.$transaction(async (tx) => {
    const rows = await tx.site.updateManyAndReturn({
      where: { ...where, status: from },
      data: { status: to },
      select: { id: true, zoneId: true },
    });
    for (const [zoneId, sites] of Map.groupBy(rows, (row) => row.zoneId))
      await changed(tx, zoneId, ...sites.map(({ id }) => siteKey(id)));
  });
}
type Status = 'normal' | 'limit';

interface ProductState extends Allowance {
  name: string;
  overLimitAction: string;
}

/** One mail for the products that share their packages, once a month and set of packages. */
async function notify(
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  ownerId: string,
  month: number,
  states: readonly ProductState[],
): Promise<void> {
  const reached = states.filter(({ state }) => state !== 'normal');
  const letterOf = ({ state, overLimitAction }: ProductState) => {
    if (state !== 'limited' || overLimitAction === 'none') return 'trafficWarning';
    return overLimitAction === 'limit' ? 'trafficLimited' : 'trafficUsedUp';
  };
  const groups = Map.groupBy(reached, (each) => `${letterOf(each)} ${each.packageIDs.toSorted().join(' ')}`);
  for (const [packages, products] of groups) {
    const [first] = products;
    if (first === undefined) continue;
    const key = { ownerId, month: new Date(month), kind: letterOf(first), packages };
    if ((await db.trafficNotice.count({ where: key })) > 0) continue;
    await db.$transaction(async (tx) => {
      const { count } = await tx.trafficNotice.createMany({ data: key, skipDuplicates: true });
      const owner = count > 0 ? await tx.account.findUnique({ where: { id: ownerId } }) : null;
      if (owner) await mail.post(tx, owner, letterOf(first), { products: products.map(({ name }) => name).join(', ') });
    });
  }
}

export function startTrafficLimits(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  let isStopping = false;
  const checkAll = async () => {
    while (!isStopping && (await limitTraffic(installation, new Date())) === BATCH);
  };
  const checks = repeat(checkAll, CHECK_INTERVAL_MS, log, 'traffic of customers not compared with their packages');
  return {
    async stop() {
      isStopping = true;
      await checks.stop();
    },
  };
}
