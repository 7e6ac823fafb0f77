import { USUAL_TYPES, type Compression } from '@edgeloom/contract/compression/compression.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as sites from '../sites/sites.service.ts';

/** Of a site that never said anything. */
const BEGINNING: Compression = { gzip: false, brotli: false, types: USUAL_TYPES, minBytes: 1024 };
const shown = { gzip: true, brotli: true, types: true, minBytes: true };

export async function get({ db }: Ctx, siteId: string): Promise<Compression> {
  await sites.own(db, siteId);
  return (await db.compression.findUnique({ where: { siteId }, select: shown })) ?? BEGINNING;
}

export const update = ({ db }: Ctx, siteId: string, asked: Compression): Promise<Compression> =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    // The edge compares types in lower case, each once.
    const data = { ...asked, types: [...new Set(asked.types.map((type) => type.toLowerCase()))] };
    const kept = await tx.compression.upsert({
      where: { siteId },
      create: { siteId, ...data },
      update: data,
      select: shown,
    });
    await changed(tx, zoneId, siteKey(siteId));
    return kept;
  });
