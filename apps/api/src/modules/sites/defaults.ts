import type { Prisma } from '../../generated/client.ts';
import * as cache from '../cache/defaults.ts';
import * as compression from '../compression/defaults.ts';

/** Stores the settings whose defaults for new sites differ from those of sites without a row. */
export async function createDefaults(
  tx: Pick<Prisma.TransactionClient, 'cacheSetting' | 'compression'>,
  siteId: string,
): Promise<void> {
  await tx.cacheSetting.create({ data: { siteId, ...cache.FOR_NEW_SITES } });
  await tx.compression.create({ data: { siteId, ...compression.FOR_NEW_SITES } });
}
