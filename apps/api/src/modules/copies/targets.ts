import { fail, failAt } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';

/** Locked in one order, so that two copies never wait for each other. Where a target is none of the caller's: not found. */
export async function lockTargets(tx: ScopedTx, siteId: string, siteIDs: string[]) {
  if (siteIDs.includes(siteId)) failAt(`siteIDs.${siteIDs.indexOf(siteId)}`, 'self', 'the site itself');
  if ((await tx.site.count({ where: { id: siteId } })) === 0) fail('NOT_FOUND');
  const targets: { id: string; zoneId: string }[] = [];
  for (const id of siteIDs.toSorted())
    targets.push(
      await tx.site.update({ where: { id }, data: { updatedAt: new Date() }, select: { id: true, zoneId: true } }),
    );
  return targets;
}

type Kept = { id: string; siteId: string; createdAt: Date; updatedAt: Date };
/** What a row says, apart from which row it is. */
export const contentOf = <Row extends Kept>({ id: _, siteId: _s, createdAt: _c, updatedAt: _u, ...content }: Row) =>
  content;
