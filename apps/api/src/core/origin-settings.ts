import type { Ctx } from './ctx.ts';
import type { Installation } from './installation.ts';
import { restrictOrigins, type OriginSettings } from './outbound.ts';

/** Where origins of an operator's sites are allowed: as in the installation, without its restricted networks. */
export async function readOriginSettings(
  { env }: Pick<Installation, 'env'>,
  db: Pick<Installation['db'], 'systemSetting'>,
  clientId: string,
): Promise<OriginSettings> {
  const row = await db.systemSetting.findUnique({ where: { clientId }, select: { restrictGroupCidrs: true } });
  return restrictOrigins(env, row?.restrictGroupCidrs ?? []);
}

export const originSettingsOf = ({ actor, installation }: Pick<Ctx, 'actor' | 'installation'>) =>
  readOriginSettings(installation, installation.db, actor.clientId);
