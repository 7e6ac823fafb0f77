import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { TrafficPackage, TrafficPackageInput, TrafficPackageUpdate } from '@edgeloom/contract/traffic/traffic.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { Prisma } from '../../generated/client.ts';
import { monthOf } from '../../statistics/billing-month.ts';
import { readCustomerTraffic, type CustomerTraffic } from './customer-traffic.ts';
import { isWarning } from './package-usage.ts';

const HOUR_MS = 3_600_000;
const include = { product: { select: { name: true } } } satisfies Prisma.TrafficPackageInclude;
type Row = Prisma.TrafficPackageGetPayload<{ include: typeof include }>;

interface Filter extends Paging<'createdAt' | 'startsAt' | 'endsAt' | 'updatedAt'> {
  userID?: string | undefined;
  productID?: string | undefined;
  productName?: string | undefined;
}

export async function list(ctx: Ctx, { userID, productID, productName, ...paging }: Filter) {
  const where = {
    ...(userID && { ownerId: userID }),
    ...(productID && { coveredProduct: productID }),
    ...(productName && { product: { name: containing(productName) } }),
  };
  const [rows, total] = await Promise.all([
    ctx.db.trafficPackage.findMany({ where, include, ...pageOf(paging) }),
    ctx.db.trafficPackage.count({ where }),
  ]);
  return { data: await withUsage(ctx, rows), total };
}

export async function create(
  ctx: Ctx,
  { userID, productID, bytes, startsAt, endsAt, ...input }: TrafficPackageInput,
): Promise<TrafficPackage> {
  const times = wholeHours(startsAt, endsAt);
  assertOpen('startsAt', times.startsAt, ctx.now());
  assertWindow(times);
  // It would cover sites that the account may not see.
  if (productID === null && !ctx.actor.isRoot) fail('PERMISSION_DENIED');
  const row = await ctx.db.$transaction(async (tx) => {
    const found = await tx.account.count({ where: { id: userID, kind: 'user', isRoot: true } });
    if (found === 0) failAt('userID', 'notFound', 'there is no such customer');
    const data = {
      ...input,
      ...times,
      bytes: BigInt(bytes),
      soldUntil: times.endsAt,
      clientId: ctx.actor.clientId,
      ownerId: userID,
      coveredProduct: productID,
      productId: productID,
    };
    return tx.trafficPackage.create({ data, include });
  });
  return usedPackage(ctx, row);
}

export async function update(
  ctx: Ctx,
  { id, productID, bytes, startsAt, endsAt, memo }: TrafficPackageUpdate,
): Promise<TrafficPackage> {
  const row = await ctx.db.$transaction(async (tx) => {
    // Locks by writing before reading.
    const { count } = await tx.trafficPackage.updateMany({ where: { id }, data: { updatedAt: new Date() } });
    const before = await tx.trafficPackage.findUnique({ where: { id } });
    if (count === 0 || !before) fail('NOT_FOUND');
    if (productID === null && !ctx.actor.isRoot) fail('PERMISSION_DENIED');
    const times = wholeHours(startsAt ?? before.startsAt, endsAt === undefined ? before.endsAt : endsAt);
    const hasBegun = isSettled(before.startsAt, ctx.now());
    const changed = {
      productID: productID !== undefined && productID !== before.coveredProduct,
      bytes: bytes !== undefined && BigInt(bytes) !== before.bytes,
      startsAt: times.startsAt.getTime() !== before.startsAt.getTime(),
    };
    for (const [field, isChanged] of Object.entries(changed))
      if (hasBegun && isChanged) failAt(field, 'settled', 'it began in a month whose bill is settled');
    if (changed.startsAt) assertOpen('startsAt', times.startsAt, ctx.now());
    if (times.endsAt?.getTime() !== before.endsAt?.getTime())
      for (const end of [before.endsAt, times.endsAt]) if (end !== null) assertOpen('endsAt', end, ctx.now());
    assertWindow(times);
    const data = {
      ...(productID !== undefined && changed.productID && { coveredProduct: productID, productId: productID }),
      ...omitUndefined({ memo, bytes: bytes === undefined ? undefined : BigInt(bytes) }),
      ...times,
      ...(!hasBegun && { soldUntil: times.endsAt }),
    };
    return tx.trafficPackage.update({ where: { id }, data, include });
  });
  return usedPackage(ctx, row);
}

/** Packages that began in an earlier month stay: its bill is settled. They can be ended. */
export const remove = ({ db, now }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const where = { id: { in: ids } };
    const { count } = await tx.trafficPackage.updateMany({ where, data: { updatedAt: new Date() } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    for (const { startsAt } of await tx.trafficPackage.findMany({ where, select: { startsAt: true } }))
      if (isSettled(startsAt, now())) failAt('ids', 'settled', 'it began in a month whose bill is settled');
    await tx.trafficPackage.deleteMany({ where });
    return { ids };
  });

const isSettled = (at: Date, now: Date) => at.getTime() < monthOf(now.getTime()).from;

function assertOpen(path: string, at: Date, now: Date) {
  if (isSettled(at, now)) failAt(path, 'settled', 'a month whose bill is settled');
}

/** The ledger has hours. */
const wholeHours = (startsAt: Date, endsAt: Date | null) => ({
  startsAt: new Date(Math.floor(startsAt.getTime() / HOUR_MS) * HOUR_MS),
  endsAt: endsAt && new Date(Math.ceil(endsAt.getTime() / HOUR_MS) * HOUR_MS),
});

function assertWindow({ startsAt, endsAt }: { startsAt: Date; endsAt: Date | null }) {
  if (endsAt !== null && endsAt <= startsAt) failAt('endsAt', 'window', 'ends before it starts');
}

async function usedPackage(ctx: Ctx, row: Row): Promise<TrafficPackage> {
  const [used] = await withUsage(ctx, [row]);
  return used ?? fail('NOT_FOUND');
}

async function withUsage({ db, now, installation: { pool } }: Ctx, rows: readonly Row[]): Promise<TrafficPackage[]> {
  const owners = [...new Set(rows.map(({ ownerId }) => ownerId))];
  const [accounts, trafficOf] = await Promise.all([
    db.account.findMany({ where: { id: { in: owners } }, select: { id: true, name: true } }),
    readCustomerTraffic(pool, owners, now().getTime()),
  ]);
  const nameOf = new Map(accounts.map(({ id, name }) => [id, name]));
  return rows.map((row) => packageOf(row, nameOf.get(row.ownerId) ?? null, trafficOf(row.ownerId), now().getTime()));
}

function packageOf(
  { ownerId, coveredProduct, product, bytes, type, ...row }: Row,
  userName: string | null,
  { replay }: CustomerTraffic,
  now: number,
): TrafficPackage {
  const { from: month } = monthOf(now);
  const used = type === 'basic' ? replay.usedIn(row.id, month) : replay.usedUntil(row.id, month);
  return {
    ...row,
    type: type === 'basic' ? 'basic' : 'extra',
    userID: ownerId,
    userName,
    productID: coveredProduct,
    productName: product?.name ?? null,
    bytes: Number(bytes),
    usedBytes: Number(used),
    state: stateOf(row, bytes, used, now),
  };
}

function stateOf(
  { startsAt, endsAt }: Pick<Row, 'startsAt' | 'endsAt'>,
  bytes: bigint,
  used: bigint,
  now: number,
): TrafficPackage['state'] {
  if (endsAt !== null && endsAt.getTime() <= now) return 'ended';
  if (startsAt.getTime() > now) return 'waiting';
  if (used >= bytes) return 'usedUp';
  return isWarning(used, bytes) ? 'warning' : 'normal';
}
