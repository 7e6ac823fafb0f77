import type { CacheSetting } from '@edgeloom/contract/cache/cache.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as sites from '../sites/sites.service.ts';

/** As the documents of a site that never said anything. */
const BEGINNING: CacheSetting = { heuristics: false, staleIfError: 3600 };

export async function get({ db }: Ctx, siteId: string): Promise<CacheSetting> {
  await sites.own(db, siteId);
  return (
    (await db.cacheSetting.findUnique({ where: { siteId }, select: { heuristics: true, staleIfError: true } })) ??
    BEGINNING
  );
}

export const update = ({ db }: Ctx, siteId: string, setting: CacheSetting): Promise<CacheSetting> =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const kept = await tx.cacheSetting.upsert({
      where: { siteId },
      create: { siteId, ...setting },
      update: setting,
      select: { heuristics: true, staleIfError: true },
    });
    await changed(tx, zoneId, siteKey(siteId));
    return kept;
  });
