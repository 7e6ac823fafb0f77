// Takes sites out of service at their expiry.
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../core/changes.ts';
import type { Installation } from '../core/installation.ts';

export async function expireSites({ db }: Pick<Installation, 'db'>): Promise<void> {
  await db.$transaction(async (tx) => {
    const rows = await tx.site.updateManyAndReturn({
      where: { expiresAt: { lte: new Date() }, status: { not: 'expired' } },
      data: { status: 'expired' },
      select: { id: true, zoneId: true },
    });
    for (const [zoneId, sites] of Map.groupBy(rows, (row) => row.zoneId))
      await changed(tx, zoneId, ...sites.map(({ id }) => siteKey(id)));
  });
}
