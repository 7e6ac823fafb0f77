import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedDb, ScopedTx } from '../../core/scope.ts';

/** Writes under the site's row lock, and publishes the site. */
export const withSite = <T>({ db }: Ctx, siteId: string, work: (tx: ScopedTx) => Promise<T>): Promise<T> =>
  db.$transaction(async (tx) => {
    const { zoneId } = await tx.site.update({
      where: { id: siteId },
      data: { updatedAt: new Date() },
      select: { zoneId: true },
    });
    const done = await work(tx);
    await changed(tx, zoneId, siteKey(siteId));
    return done;
  });

export async function assertSite(db: ScopedDb, siteId: string) {
  if ((await db.site.count({ where: { id: siteId } })) === 0) fail('NOT_FOUND');
}
