import type { AbuseIP, AbuseIPInput, FirewallAdvance } from '@edgeloom/contract/firewall/firewall.ts';
import type { Ctx } from '../../core/ctx.ts';
import { assertSite, withSite } from './site-lock.ts';

const none: AbuseIP = { score: 75, monitor: false, enabled: false };
const select = { score: true, monitor: true, enabled: true } as const;
const defaultAdvance: FirewallAdvance = { type: 0, rule: 'url' };
const advanceFields = { type: true, rule: true } as const;

export async function readAbuseIP({ db }: Ctx, siteId: string): Promise<AbuseIP> {
  await assertSite(db, siteId);
  return (await db.abuseIp.findUnique({ where: { siteId }, select })) ?? none;
}

export const writeAbuseIP = (ctx: Ctx, siteId: string, input: AbuseIPInput): Promise<AbuseIP> =>
  withSite(ctx, siteId, (tx) =>
    tx.abuseIp.upsert({ where: { siteId }, create: { siteId, ...input }, update: input, select }),
  );

/** Null as long as nothing was stored. */
export async function readStoredAdvance({ db }: Ctx, siteId: string): Promise<FirewallAdvance | null> {
  await assertSite(db, siteId);
  return db.firewallAdvance.findUnique({ where: { siteId }, select: advanceFields });
}

export const writeAdvance = (ctx: Ctx, siteId: string, input: FirewallAdvance): Promise<FirewallAdvance> =>
  withSite(ctx, siteId, (tx) =>
    tx.firewallAdvance.upsert({
      where: { siteId },
      create: { siteId, ...input },
      update: input,
      select: advanceFields,
    }),
  );

export async function readSettings(ctx: Ctx, siteId: string) {
  const abuseIP = await readAbuseIP(ctx, siteId);
  const advance = (await readStoredAdvance(ctx, siteId)) ?? defaultAdvance;
  const where = { siteId, enabled: true };
  const [blacklists, whitelists, geos, userAgents] = await Promise.all([
    ctx.db.firewallList.count({ where: { ...where, isBlack: true } }),
    ctx.db.firewallList.count({ where: { ...where, isBlack: false } }),
    ctx.db.firewallGeo.count({ where }),
    ctx.db.userAgentRule.count({ where }),
  ]);
  return { abuseIP, advance, blacklists, whitelists, geos, userAgents };
}
