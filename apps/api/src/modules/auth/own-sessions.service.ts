// The sessions of the caller's own account.
import type { ownSessions } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';

const alive = ({ actor, now }: Ctx) => ({ accountId: actor.id, revokedAt: null, endsAt: { gt: now() } });

export async function list(ctx: Ctx, paging: Request<typeof ownSessions.list>['query']) {
  const { db } = ctx.installation;
  const select = {
    id: true,
    device: true,
    address: true,
    createdAt: true,
    lastUsedAt: true,
    proxy: { select: { name: true } },
    apiToken: { select: { name: true } },
  };
  const [rows, total] = await Promise.all([
    db.session.findMany({ where: alive(ctx), select, ...pageOf(paging) }),
    db.session.count({ where: alive(ctx) }),
  ]);
  const data = rows.map(({ proxy, apiToken, ...row }) => ({
    ...row,
    current: row.id === ctx.actor.sessionId,
    proxyName: proxy?.name ?? null,
    apiTokenName: apiToken?.name ?? null,
  }));
  return { data, total };
}

/** All or nothing; sessions of another account are NOT_FOUND. */
export async function end(ctx: Ctx, { ids }: { ids: string[] }) {
  await ctx.installation.db.$transaction(async (tx) => {
    const where = { ...alive(ctx), id: { in: ids } };
    const { count } = await tx.session.updateMany({ where, data: { revokedAt: ctx.now() } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
  });
  return { ids };
}
