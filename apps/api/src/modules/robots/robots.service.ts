import { Robots, robotsText, type RobotsInput } from '@edgeloom/contract/robots/robots.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { assertSite, withSite } from '../firewall/site-lock.ts';

const none: RobotsInput = { enabled: false, groups: [], sitemaps: [] };

export async function readRobots({ db }: Ctx, siteId: string): Promise<Robots> {
  await assertSite(db, siteId);
  return (await storedRobots(db, siteId)) ?? { ...none, text: robotsText(none) };
}

/** Null as long as nothing was stored. */
export async function storedRobots(tx: ScopedTx, siteId: string): Promise<Robots | null> {
  const select = { enabled: true, groups: true, sitemaps: true } as const;
  const row = await tx.robotsFile.findUnique({ where: { siteId }, select });
  if (!row) return null;
  const robots = Robots.omit({ text: true }).parse(row);
  return { ...robots, text: robotsText(robots) };
}

export const writeRobots = (ctx: Ctx, siteId: string, input: RobotsInput): Promise<Robots> =>
  withSite(ctx, siteId, async (tx) => {
    await tx.robotsFile.upsert({ where: { siteId }, create: { siteId, ...input }, update: input });
    return { ...input, text: robotsText(input) };
  });
