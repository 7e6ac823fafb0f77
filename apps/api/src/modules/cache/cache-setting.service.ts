import { CacheSetting, type CacheSettingInput } from '@edgeloom/contract/cache/cache.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { sql } from '../../core/sql.ts';
import { WITHOUT_ROW } from './defaults.ts';
import * as sites from '../sites/sites.service.ts';

export async function get(ctx: Ctx, siteId: string): Promise<CacheSetting> {
  const { db } = ctx;
  await sites.own(db, siteId);
  const [row, hasRelay] = await Promise.all([
    db.cacheSetting.findUnique({ where: { siteId }, omit: { siteId: true } }),
    readHasRelay(ctx, siteId),
  ]);
  const { setCookie, ...rest } = row ?? WITHOUT_ROW;
  return { ...rest, setCookie: CacheSetting.shape.setCookie.parse(setCookie), hasRelay };
}

/** Whether a relay node can serve the site. Customers see this fact but no nodes. */
async function readHasRelay({ db }: Ctx, siteId: string): Promise<boolean> {
  const [row] = await db.$read<{ hasRelay: boolean }>(
    ({ site }) => sql`SELECT EXISTS (
        SELECT FROM nodes n WHERE n.zone_id = s.zone_id AND n.kind = 'relay' AND n.enabled AND n.joined_at IS NOT NULL
      ) AS "hasRelay" FROM sites s WHERE ${site} AND s.id = ${siteId}`,
  );
  return row?.hasRelay ?? false;
}

export async function update(ctx: Ctx, siteId: string, input: CacheSettingInput): Promise<CacheSetting> {
  const setting = omitUndefined(input);
  await ctx.db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    await tx.cacheSetting.upsert({ where: { siteId }, create: { siteId, ...setting }, update: setting });
    await changed(tx, zoneId, siteKey(siteId));
  });
  return get(ctx, siteId);
}
