import { Compression, type CompressionInput } from '@edgeloom/contract/compression/compression.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import type { Compression as Row } from '../../generated/client.ts';
import * as sites from '../sites/sites.service.ts';
import { WITHOUT_ROW } from './defaults.ts';

/** Stored values are returned as they are, without validating them again. */
const compressionOf = ({ siteId: _, webpTypes, ...row }: Row): Compression => ({
  ...row,
  webpTypes: Compression.shape.webpTypes.parse(webpTypes),
});

export async function get({ db }: Ctx, siteId: string): Promise<Compression> {
  await sites.own(db, siteId);
  const row = await db.compression.findUnique({ where: { siteId } });
  return row === null ? WITHOUT_ROW : compressionOf(row);
}

export const update = ({ db }: Ctx, siteId: string, asked: CompressionInput): Promise<Compression> =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    // The edge compares types in lower case, without duplicates.
    const { types, webpTypes, ...rest } = asked;
    const data = {
      ...omitUndefined({ ...rest, webpTypes: webpTypes && [...new Set(webpTypes)] }),
      types: [...new Set(types.map((type) => type.toLowerCase()))],
    };
    const stored = await tx.compression.upsert({
      where: { siteId },
      create: { ...WITHOUT_ROW, ...data, siteId },
      update: data,
    });
    await changed(tx, zoneId, siteKey(siteId));
    return compressionOf(stored);
  });
