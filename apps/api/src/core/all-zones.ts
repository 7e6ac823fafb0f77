import type { Ctx } from './ctx.ts';
import { fail } from './fail.ts';

/** Settings for all sites of an operator are changed by accounts that see all of its zones. */
export async function assertAllZones({ actor: { isRoot, clientId }, db, installation }: Ctx): Promise<void> {
  if (isRoot) return;
  const [seen, all] = await Promise.all([db.zone.count(), installation.db.zone.count({ where: { clientId } })]);
  if (seen < all) fail('PERMISSION_DENIED');
}
