// Upgrades: the available releases, the version of each node, and the history of one node.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import type { LatestVersions, RolloutDetail, UpgradeInput } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, failTogether, type Fault } from '../../core/fail.ts';
import { releasesIn } from '../../releases/store.ts';
import { beginRollout } from '../../rollouts/begin-rollout.ts';
import { versionAt } from '../../rollouts/release-rollout.ts';
import * as nodes from '../nodes/nodes.service.ts';
import { lineInclude, lineOf, ofRelease, releaseOf } from './rollout-row.ts';
import { get } from './rollouts.service.ts';

export async function latest({ db, installation: { env } }: Ctx): Promise<LatestVersions> {
  const { releases } = await releasesIn(env);
  const states = await db.nodeState.findMany({
    where: { node: { joinedAt: { not: null } } },
    select: { version: true, packs: true },
  });
  return {
    data: ReleaseProduct.options.map((product) => {
      const manifests = releases.map(({ manifest }) => manifest).filter((one) => one.product === product);
      const newest = manifests[0] ?? null;
      const counts = Map.groupBy(states, (state) => versionAt(state, product));
      return {
        product,
        version: newest?.version ?? null,
        createdAt: newest ? new Date(newest.createdAt) : null,
        versions: manifests.map(({ version }) => version),
        levels: newest?.levels ?? null,
        nodes: Array.from(counts, ([version, having]) => ({ version, count: having.length })),
        behind: newest === null ? 0 : states.length - (counts.get(newest.version)?.length ?? 0),
      };
    }),
  };
}

/** Fails with all nodes that cannot be upgraded. Nodes that already have the release are skipped. */
export async function begin(ctx: Ctx, input: UpgradeInput): Promise<RolloutDetail> {
  const { product, strategy, reason } = input;
  const { releases } = await releasesIn(ctx.installation.env);
  const id = await ctx.db.$transaction(async (tx) => {
    const wanted = await nodes.own(tx, [...new Set(input.ids)]);
    const release =
      releases.find(
        ({ manifest }) =>
          manifest.product === product && (input.version === undefined || manifest.version === input.version),
      ) ?? failAt('version', 'unknown', 'there is no such release in the store');
    const { version } = release.manifest;
    if (strategy.type === 'allAtOnce' && reason === undefined)
      failAt('reason', 'required', 'the fast lane asks for a reason');
    const states = await tx.nodeState.findMany({ where: { nodeId: { in: wanted.map((node) => node.id) } } });
    const stateOf = new Map(states.map((state) => [state.nodeId, state]));
    const behind = wanted.filter((node) => {
      const state = stateOf.get(node.id);
      return !state || versionAt(state, product) !== version;
    });
    const busy = await tx.rolloutNode.findMany({
      where: { nodeId: { in: behind.map((node) => node.id) }, active: true },
      select: { nodeId: true },
    });
    const inAnother = new Set(busy.map(({ nodeId }) => nodeId));
    const faults = behind.flatMap((node): Fault[] => {
      const state = stateOf.get(node.id);
      if (node.joinedAt === null || !state) return [{ reason: 'NODE_UNREACHABLE', target: node.name }];
      if (inAnother.has(node.id)) return [{ reason: 'BUSY', target: node.name }];
      // An agent that was not installed from a release has no version to roll back to and no supervisor.
      const isOfNone = product === 'agent' && state.version !== '' && state.release === null;
      if (!isOfNone) return [];
      // A node that has just joined reports its digest with the first heartbeat.
      return [{ reason: state.digest === null ? 'NODE_UNREACHABLE' : 'NODE_VERSION_MISMATCH', target: node.name }];
    });
    failTogether(faults);
    if (behind.length === 0) failAt('ids', 'current', 'they all have it already');
    if (behind.every((node) => stateOf.get(node.id)?.connectedAt == null)) fail('NODE_UNREACHABLE');
    const nodeIds = behind.map((node) => node.id);
    return beginRollout(tx, {
      clientId: ctx.actor.clientId,
      kind: 'release',
      target: { product, version },
      title: `${product} ${version}`,
      strategy,
      reason: reason ?? '',
      createdBy: ctx.actor.name,
      nodeIds,
      zoneIds: [...new Set(behind.map((node) => node.zoneId))],
      ifBusy: 'refuse',
      now: ctx.now(),
    });
  });
  return get(ctx, id);
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
