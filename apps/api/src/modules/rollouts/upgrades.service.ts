// Releases on their way to nodes: which there are, who has what, and what happened at one node.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import type { LatestVersions, RolloutDetail, UpgradeInput } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import * as nodes from '../nodes/nodes.service.ts';
import { lineInclude, lineOf, ofRelease, releaseOf } from './rollout-row.ts';

export async function latest({ db }: Ctx): Promise<LatestVersions> {
  const states = await db.nodeState.findMany({
    where: { node: { joinedAt: { not: null } } },
    select: { version: true },
  });
  return {
    data: ReleaseProduct.options.map((product) => {
      const counts = Map.groupBy(states, ({ version }) => (product === 'agent' ? version : ''));
      return {
        product,
        version: null,
        createdAt: null,
        versions: [],
        nodes: Array.from(counts, ([version, having]) => ({ version, count: having.length })),
        behind: 0,
      };
    }),
  };
}

export async function begin(ctx: Ctx, { ids }: UpgradeInput): Promise<RolloutDetail> {
  await nodes.own(ctx.db, ids);
  return failAt('version', 'unknown', 'there is no such release in the store');
}

export async function logs({ db }: Ctx, nodeId: string, { page, pageSize, orderBy }: Paging<'at'>) {
  if ((await db.edgeNode.count({ where: { id: nodeId } })) === 0) fail('NOT_FOUND');
  const where = { nodeId };
  const [rows, total] = await Promise.all([
    db.rolloutLine.findMany({
      where,
      include: { ...lineInclude, rollout: ofRelease },
      orderBy: { id: orderBy },
      skip: (page - 1) * pageSize,
      take: pageSize,
    }),
    db.rolloutLine.count({ where }),
  ]);
  return {
    data: rows.map(({ rollout, ...row }) => ({
      ...lineOf(row),
      rolloutID: row.rolloutId,
      ...releaseOf(rollout.target),
    })),
    total,
  };
}
