// A rollout as the API returns it.
import {
  RolloutEventName,
  RolloutFault,
  RolloutGate,
  RolloutKind,
  RolloutNodeState,
  RolloutState,
  RolloutStrategy,
  WaveState,
  type Rollout,
  type RolloutLine,
  type RolloutNode,
} from '@edgeloom/contract/rollouts/rollouts.ts';
import { CodedMessageOrNull } from '@edgeloom/contract/rollouts/messages.ts';
import * as z from 'zod';
import type { ScopedDb } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { ReleaseTarget } from '../../rollouts/release-rollout.ts';
import { ZoneTarget } from '../../rollouts/zone-rollout.ts';

export const include = {
  zones: { select: { zone: { select: { id: true, name: true } } } },
  waves: { orderBy: { position: 'asc' } },
} satisfies Prisma.RolloutInclude;
type Row = Prisma.RolloutGetPayload<{ include: typeof include }>;

/** The version number of a zone's rollout is in its title. */
const Target = z.union([ReleaseTarget, ZoneTarget.transform(() => ({ product: null, version: null }))]);
const Before = z.object({ version: z.string() });
const Gates = z.array(RolloutGate);
const Metrics = z.object({ requests: z.int(), serverErrors: z.int(), p99Ms: z.number().nullable() });

interface Count {
  rolloutId: string;
  wave: number;
  state: string;
  nodes: number;
}

/** Two queries for a page, however many rows and nodes it has. */
export async function shown(db: ScopedDb, rows: Row[]): Promise<Rollout[]> {
  const counted = await db.rolloutNode.groupBy({
    by: ['rolloutId', 'wave', 'state'],
    where: { rolloutId: { in: rows.map(({ id }) => id) } },
    _count: true,
  });
  const counts = Map.groupBy(
    counted.map(({ _count: nodes, ...count }): Count => ({ ...count, nodes })),
    ({ rolloutId }) => rolloutId,
  );
  return rows.map((row) => rolloutOf(row, counts.get(row.id) ?? []));
}

function rolloutOf(row: Row, counts: Count[]): Rollout {
  const { product, version } = releaseOf(row.target);
  const count = (...states: RolloutNodeState[]) =>
    sum(
      counts.filter(({ state }) => RolloutNodeState.options.some((known) => known === state && states.includes(known))),
    );
  return {
    id: row.id,
    kind: RolloutKind.parse(row.kind),
    product,
    version,
    title: row.title,
    state: RolloutState.parse(row.state),
    zones: row.zones.map(({ zone }) => zone),
    strategy: RolloutStrategy.parse(row.strategy),
    fast: row.fast,
    reason: row.reason,
    wave: row.wave,
    waves: row.waves.map((wave) => {
      const inWave = counts.filter((one) => one.wave === wave.position);
      return {
        position: wave.position,
        percent: wave.percent,
        state: WaveState.parse(wave.state),
        nodes: sum(inWave),
        updated: sum(inWave.filter(({ state }) => state === 'updated')),
        startedAt: wave.startedAt,
        soakEndsAt: wave.soakEndsAt,
        endedAt: wave.endedAt,
        gates: Gates.parse(wave.gates),
      };
    }),
    counts: {
      total: sum(counts),
      updated: count('updated'),
      updating: count('updating', 'rollingBack'),
      away: count('away', 'leftOut'),
      failed: count('failed', 'stuck'),
      rolledBack: count('rolledBack'),
    },
    fault: RolloutFault.nullable().parse(row.fault),
    message: row.message,
    messageCode: CodedMessageOrNull.parse(row.messageCode),
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    endedAt: row.endedAt,
  };
}

const sum = (counts: Count[]) => counts.reduce((total, { nodes }) => total + nodes, 0);

export const nodeInclude = { node: { select: { name: true, zoneId: true } } } satisfies Prisma.RolloutNodeInclude;
type NodeRow = Prisma.RolloutNodeGetPayload<{ include: typeof nodeInclude }>;

export function nodeOf(row: NodeRow): RolloutNode {
  const metrics = Metrics.nullable().parse(row.metrics);
  return {
    nodeID: row.nodeId,
    nodeName: row.node.name,
    zoneID: row.node.zoneId,
    wave: row.wave,
    state: RolloutNodeState.parse(row.state),
    from: Before.nullable().parse(row.before)?.version ?? null,
    message: row.message,
    messageCode: CodedMessageOrNull.parse(row.messageCode),
    requests: metrics?.requests ?? null,
    serverErrors: metrics?.serverErrors ?? null,
    p99Ms: metrics?.p99Ms ?? null,
    startedAt: row.startedAt,
    endedAt: row.endedAt,
  };
}

export const lineInclude = { node: { select: { name: true } } } satisfies Prisma.RolloutLineInclude;
type LineRow = Prisma.RolloutLineGetPayload<{ include: typeof lineInclude }>;

export const lineOf = (row: LineRow): RolloutLine => ({
  id: Number(row.id),
  at: row.at,
  event: RolloutEventName.parse(row.event),
  wave: row.wave,
  nodeID: row.nodeId,
  nodeName: row.node?.name ?? null,
  detail: row.detail,
  message: row.message,
  messageCode: CodedMessageOrNull.parse(row.messageCode),
  by: row.by,
});

export const ofRelease = { select: { target: true } } satisfies Prisma.RolloutDefaultArgs;
export const releaseOf = (target: unknown) => Target.parse(target);
