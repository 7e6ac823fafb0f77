// The licenses of operators: issuing an offer, its history, and changes of the running license.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { License, LicenseIssuing, LicenseOrder, LicenseSetting } from '@edgeloom/contract/licenses/licenses.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { readLicense } from '../../core/license.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { termsOf } from './license-terms.ts';

const DAY_MS = 86_400_000;

export const get = async (ctx: Ctx, userId: string): Promise<License> =>
  readLicense(ctx.installation, (await findOperator(ctx.db, userId)) ?? fail('NOT_FOUND'));

/** Locks the offer, so that its terms stay, and the license, so that each of two calls adds its days. */
export async function issue(ctx: Ctx, { licenseID, userID }: LicenseIssuing): Promise<License> {
  const clientId = await ctx.db.$transaction(async (tx) => {
    const found = (await findOperator(tx, userID)) ?? failAt('userID', 'unknown', 'no operator');
    await tx.$license.lock(licenseID);
    const offer = await tx.licenseOffer.findUnique({ where: { id: licenseID } });
    if (!offer) fail('LICENSE_NOT_FOUND');
    await tx.$license.lock(found);
    const running = await tx.license.findUnique({ where: { clientId: found } });
    if (running?.layer4 && !offer.layer4 && isRunning(running.endsAt, ctx.now())) fail('ILLEGAL_PORT_TYPE');
    const { id: offerId, name, days } = offer;
    const terms = termsOf(offer);
    const endsAt = endAfter(days, running?.endsAt ?? null, ctx.now());
    const license = { ...terms, offerName: name, endsAt };
    await tx.license.upsert({ where: { clientId: found }, create: { clientId: found, ...license }, update: license });
    const order = { clientId: found, offerId, ...terms, name, days, endsAt, createdBy: ctx.actor.name };
    await tx.licenseOrder.create({ data: order });
    return found;
  });
  return readLicense(ctx.installation, clientId);
}

const isRunning = (endsAt: Date | null, now: Date) => endsAt === null || endsAt > now;

/** Days are added to what is left. Days on a license without an end count from now. */
function endAfter(days: number, end: Date | null, now: Date): Date | null {
  if (days === 0) return null;
  const from = Math.max(now.getTime(), end?.getTime() ?? 0);
  return new Date(from + days * DAY_MS);
}

export async function list({ db }: Ctx, userId: string, paging: Paging<'createdAt'>) {
  const clientId = (await findOperator(db, userId)) ?? fail('NOT_FOUND');
  const [rows, total] = await Promise.all([
    db.licenseOrder.findMany({ where: { clientId }, ...pageOf(paging) }),
    db.licenseOrder.count({ where: { clientId } }),
  ]);
  const data = rows.map(({ clientId: _, offerId, createdBy, ...row }): LicenseOrder => ({
    ...row,
    licenseID: offerId,
    createdByName: createdBy,
  }));
  return { data, total };
}

export async function update(ctx: Ctx, userId: string, setting: LicenseSetting): Promise<License> {
  const clientId = await ctx.db.$transaction(async (tx) => {
    const found = (await findOperator(tx, userId)) ?? fail('NOT_FOUND');
    await tx.$license.lock(found);
    const { count } = await tx.license.updateMany({ where: { clientId: found }, data: omitUndefined(setting) });
    if (count === 0) fail('LICENSE_NOT_FOUND');
    return found;
  });
  return readLicense(ctx.installation, clientId);
}

/** The client of an operator's account. */
async function findOperator({ account }: Pick<ScopedTx, 'account'>, id: string): Promise<string | null> {
  const found = await account.findUnique({ where: { id, kind: 'client' } });
  return found?.clientId ?? null;
}
