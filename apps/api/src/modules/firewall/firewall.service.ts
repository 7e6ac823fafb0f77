import type { AbuseIP, AbuseIPInput } from '@edgeloom/contract/firewall/firewall.ts';
import type { Ctx } from '../../core/ctx.ts';
import { assertSite, withSite } from './site-lock.ts';

const none: AbuseIP = { score: 75, monitor: false, enabled: false };
const select = { score: true, monitor: true, enabled: true } as const;

export async function readAbuseIP({ db }: Ctx, siteId: string): Promise<AbuseIP> {
  await assertSite(db, siteId);
  return (await db.abuseIp.findUnique({ where: { siteId }, select })) ?? none;
}

export const writeAbuseIP = (ctx: Ctx, siteId: string, input: AbuseIPInput): Promise<AbuseIP> =>
  withSite(ctx, siteId, (tx) =>
    tx.abuseIp.upsert({ where: { siteId }, create: { siteId, ...input }, update: input, select }),
  );

export async function readSettings(ctx: Ctx, siteId: string) {
  const abuseIP = await readAbuseIP(ctx, siteId);
  const where = { siteId, enabled: true };
  const [blacklists, whitelists, geos, userAgents] = await Promise.all([
    ctx.db.firewallList.count({ where: { ...where, isBlack: true } }),
    ctx.db.firewallList.count({ where: { ...where, isBlack: false } }),
    ctx.db.firewallGeo.count({ where }),
    ctx.db.userAgentRule.count({ where }),
  ]);
  return { abuseIP, blacklists, whitelists, geos, userAgents };
}
