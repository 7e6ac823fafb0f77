import type { Ctx } from './ctx.ts';
import type { Installation } from './installation.ts';
import type { OriginSettings } from './outbound.ts';

/** Where origins of an operator's sites are allowed. */
export async function readOriginSettings(
  { env }: Pick<Installation, 'env'>,
  db: Pick<Installation['db'], 'systemSetting'>,
  clientId: string,
): Promise<OriginSettings> {
  const row = await db.systemSetting.findUnique({ where: { clientId }, select: { restrictGroupCidrs: true } });
  const { ORIGIN_ALLOW, ORIGIN_DENY } = env;
  return { ORIGIN_ALLOW, ORIGIN_DENY, restrictedNetworks: row?.restrictGroupCidrs ?? [] };
}

export const originSettingsOf = ({ actor, installation }: Pick<Ctx, 'actor' | 'installation'>) =>
  readOriginSettings(installation, installation.db, actor.clientId);
