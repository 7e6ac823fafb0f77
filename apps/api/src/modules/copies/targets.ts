import { fail, failAt } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';

/**
 * Locks the target sites in one order, so that concurrent copies cannot deadlock. NOT_FOUND unless all belong to the
 * caller.
 */
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
