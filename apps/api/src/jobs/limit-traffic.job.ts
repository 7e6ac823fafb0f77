// Compares the traffic of customers with their packages: takes sites out of service and puts them back, and mails
// notices. Runs in every process with a lease per customer.
import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../core/changes.ts';
import type { Installation } from '../core/installation.ts';
import type { Prisma } from '../generated/client.ts';
import { countMonths, readCustomerTraffic } from '../modules/traffic/customer-traffic.ts';
import { allowanceOf, type Allowance } from '../modules/traffic/package-usage.ts';
import { repeat } from '../node-link/repeat.ts';
import { countedMonth, monthOf } from '../statistics/billing-month.ts';

const CHECK_INTERVAL_MS = 10_000;
/** With the check interval less than the minute within which a limit must be served. Also the lease of a customer. */
const DUE_MS = 20_000;

/** Customers with packages, and customers whose sites are limited because of packages that are gone. */
const FIND = `INSERT INTO traffic_checks (owner_id, due_at)
  SELECT a.id, $1 FROM accounts a
  WHERE a.id IN (SELECT owner_id FROM traffic_packages UNION SELECT owner_id FROM sites WHERE status = 'limit')
    AND NOT EXISTS (SELECT FROM traffic_checks c WHERE c.owner_id = a.id)
  ON CONFLICT DO NOTHING`;
/** A removed customer is checked a last time, which counts what its packages used. */
const TAKE = `UPDATE traffic_checks SET due_at = CASE WHEN EXISTS (SELECT FROM accounts a WHERE a.id = owner_id) THEN $2::timestamptz END
  WHERE owner_id = (SELECT owner_id FROM traffic_checks WHERE due_at <= $1 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING owner_id AS "ownerId", due_at AS "leasedUntil", counted_until AS "countedUntil"`;

/** The packages of an operator go with it. */
const FORGET = `DELETE FROM traffic_checks c
  WHERE due_at IS NULL AND NOT EXISTS (SELECT FROM traffic_packages p WHERE p.owner_id = c.owner_id)`;

type Deps = Pick<Installation, 'db' | 'pool' | 'mail'>;

interface Customer {
  ownerId: string;
  /** Null: the customer was removed and has no sites. */
  leasedUntil: Date | null;
  countedUntil: Date | null;
}

/** Checks all customers that are due. */
export async function limitTraffic(deps: Deps, clock: () => Date, isStopping = () => false): Promise<void> {
  const { db, pool } = deps;
  const start = clock();
  await pool.query(FIND, [start]);
  await pool.query(FORGET);
  // The operator's own sites have no packages.
  await db.$transaction((tx) => setStatus(tx, { ownerId: null }, 'limit', 'normal'));
  const failures: unknown[] = [];
  while (!isStopping()) {
    const now = clock();
    const { rows } = await pool.query<Customer>(TAKE, [start, new Date(now.getTime() + DUE_MS)]);
    const [customer] = rows;
    if (customer === undefined) break;
    // One customer's failure must not hold back the others.
    await checkCustomer(deps, customer, now.getTime()).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, 'customers whose traffic was not compared');
}

export async function checkCustomer(deps: Deps, customer: Customer, now: number): Promise<void> {
  const { db, pool } = deps;
  const { ownerId, countedUntil } = customer;
  const month = countedMonth(now);
  if (countedUntil === null || countedUntil.getTime() < month) await countMonths(pool, ownerId, month);
  const products = await readProducts(deps, ownerId);
  const { packages, replay } = (await readCustomerTraffic(pool, [ownerId], now))(ownerId);
  const states = products.map((product) => {
    const allowance = allowanceOf(packages, replay, product.id, now);
    const isLimited = allowance.state === 'limited' && product.overLimitAction === 'limit';
    const nextMonth = allowanceOf(packages, replay, product.id, monthOf(now).to);
    return { ...product, ...allowance, isLimited, nextMonth };
  });
  const idsOf = (some: typeof states) => some.map(({ id }) => id);
  const limited = idsOf(states.filter(({ isLimited, serving }) => isLimited && serving > 0));
  const lifted = idsOf(states.filter(({ isLimited, offline }) => !isLimited && offline > 0));
  if (limited.length > 0 || lifted.length > 0)
    await db.$transaction(async (tx) => {
      if (!(await hasLease(tx, customer))) return;
      await setStatus(tx, { ownerId, productId: { in: limited } }, 'normal', 'limit');
      await setStatus(tx, { ownerId, productId: { in: lifted } }, 'limit', 'normal');
    });
  await notify(deps, customer, states);
}

interface ProductSites {
  id: string;
  name: string;
  overLimitAction: string;
  /** Sites that are in service, and that are limited. */
  serving: number;
  offline: number;
}

async function readProducts({ pool }: Deps, ownerId: string): Promise<ProductSites[]> {
  const { rows } = await pool.query<ProductSites>(
    `SELECT p.id, p.name, p.over_limit_action AS "overLimitAction",
       count(*) FILTER (WHERE s.status = 'normal')::int AS serving,
       count(*) FILTER (WHERE s.status = 'limit')::int AS offline
     FROM sites s JOIN products p ON p.id = s.product_id WHERE s.owner_id = $1 GROUP BY p.id ORDER BY p.name`,
    [ownerId],
  );
  return rows;
}

type Transaction = Prisma.TransactionClient;

/** A process that stalled must not undo what another one decided meanwhile. Locks the customer. */
async function hasLease(tx: Transaction, { ownerId, leasedUntil }: Customer): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM traffic_checks WHERE owner_id = ${ownerId}::uuid AND due_at = ${leasedUntil} FOR UPDATE`;
  return found.length > 0;
}

interface SiteFilter {
  ownerId: string | null;
  productId?: { in: string[] };
}

/** Sites with another status than `from`, such as those that the operator paused meanwhile, stay as they are. */
async function setStatus(tx: Transaction, where: SiteFilter, from: Status, to: Status): Promise<void> {
  const rows = await tx.site.updateManyAndReturn({
    where: { ...where, status: from },
    data: { status: to },
    select: { id: true, zoneId: true },
  });
  for (const [zoneId, sites] of Map.groupBy(rows, (row) => row.zoneId))
    await changed(tx, zoneId, ...sites.map(({ id }) => siteKey(id)));
}
type Status = 'normal' | 'limit';

interface ProductState extends Allowance, ProductSites {
  isLimited: boolean;
  /** The allowance at the beginning of the next month. */
  nextMonth: Allowance;
}

function letterOf({ state, hasEnded, overLimitAction, nextMonth }: ProductState) {
  if (state === 'limited' && overLimitAction === 'limit') {
    if (nextMonth.state === 'limited') return 'trafficLimitedUntilPackage';
    return nextMonth.hasEnded ? 'trafficLimitedThenBilled' : 'trafficLimited';
  }
  if (hasEnded) return 'trafficPackagesEnded';
  if (state === 'normal') return null;
  return state === 'limited' && overLimitAction === 'notify' ? 'trafficUsedUp' : 'trafficWarning';
}

const hashOf = (ids: readonly string[]) => createHash('sha256').update(ids.toSorted().join(' ')).digest('hex');

/** One mail of a kind names all products that it is about, each once a month and set of packages. */
async function notify({ db, mail }: Deps, customer: Customer, states: readonly ProductState[]): Promise<void> {
  const { ownerId } = customer;
  // Mails say whether sites are online. Paused and expired ones are offline for another reason.
  const concerned = states.filter(({ serving, offline }) => serving + offline > 0);
  for (const [kind, products] of Map.groupBy(concerned, letterOf)) {
    if (kind === null) continue;
    const notices = products.map(({ id, month, packageIDs }) => ({
      ownerId,
      productId: id,
      month: new Date(month),
      kind,
      packages: hashOf(packageIDs),
    }));
    if ((await db.trafficNotice.count({ where: { OR: notices } })) === notices.length) continue;
    await db.$transaction(async (tx) => {
      if (!(await hasLease(tx, customer))) return;
      const added = await tx.trafficNotice.createManyAndReturn({ data: notices, skipDuplicates: true });
      const owner = added.length > 0 ? await tx.account.findUnique({ where: { id: ownerId } }) : null;
      const names = products
        .filter(({ id }) => added.some(({ productId }) => productId === id))
        .map(({ name }) => name);
      if (owner) await mail.post(tx, owner, kind, { products: names.join(', ') });
    });
  }
}

export function startTrafficLimits(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  let isStopping = false;
  const checkAll = () =>
    limitTraffic(
      installation,
      () => new Date(),
      () => isStopping,
    );
  const checks = repeat(checkAll, CHECK_INTERVAL_MS, log, 'traffic of customers not compared with their packages');
  return {
    async stop() {
      isStopping = true;
      await checks.stop();
    },
  };
}
