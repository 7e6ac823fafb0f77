// A node as the API returns it: its settings, its last heartbeat, and the status that follows from both and the time.
import * as z from 'zod';
import { NodeLoad, Packs } from '@edgeloom/contract/edge/messages.ts';
import { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { MonitorVerdict, NodeMonitor, NodePortType } from '@edgeloom/contract/nodes/nodes.ts';
import type { EdgeNode } from '@edgeloom/contract/nodes/nodes.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { NodeState, Prisma } from '../../generated/client.ts';
import { latestOf, releasesIn } from '../../releases/store.ts';
import { nodeStatus, Rejected, upgradeStatus } from './node-status.ts';

export const inForcedGroup = { group: { forcedAt: { not: null } } } satisfies Prisma.GroupMemberWhereInput;
export const include = {
  zone: { select: { name: true, revision: true } },
  parent: { select: { name: true } },
  standing: { select: { monitorStatus: true } },
  _count: { select: { members: { where: inForcedGroup } } },
} satisfies Prisma.EdgeNodeInclude;
type Row = Prisma.EdgeNodeGetPayload<{ include: typeof include }>;

interface RowDetails {
  standsIn: boolean;
  state: NodeState | undefined;
  /** The newest agent version. */
  latest: string | null;
  cacheBytes: number;
  subCount: number;
}

const Answered = z.record(z.string(), z.array(z.object({ nodeUID: z.string(), isAnswered: z.boolean() })));

/** The backup nodes among these that now answer for a line. */
export async function standIns(db: ScopedTx, rows: readonly { id: string; role: string }[]): Promise<Set<string>> {
  const backups = rows.filter(({ role }) => role === 'backup').map(({ id }) => id);
  if (backups.length === 0) return new Set();
  const states = await db.groupState.findMany({
    where: { group: { members: { some: { nodeId: { in: backups } } } } },
    select: { answered: true },
  });
  const outcomes = states.flatMap(({ answered }) => Object.values(Answered.catch({}).parse(answered)).flat());
  const uids = new Set(outcomes.filter(({ isAnswered }) => isAnswered).map(({ nodeUID }) => nodeUID));
  return new Set(backups.filter((id) => uids.has(`n-${id}`)));
}

/** A rejected document determines the status, so its error is shown before a general one. */
function errorOf(state: NodeState | undefined): string | null {
  const [rejected] = Rejected.catch([]).parse(state?.rejected ?? []);
  return rejected?.error ?? state?.error ?? null;
}

/** A fixed number of queries for a page of any size. */
export async function shown({ db, now, installation }: Ctx, rows: Row[]): Promise<EdgeNode[]> {
  const ids = rows.map(({ id }) => id);
  const [releases, standing, states, sizes, subs] = await Promise.all([
    releasesIn(installation.env),
    standIns(db, rows),
    db.nodeState.findMany({ where: { nodeId: { in: ids } } }),
    db.cachedNow.groupBy({ by: ['nodeId'], where: { nodeId: { in: ids } }, _sum: { bytes: true } }),
    db.edgeNode.groupBy({ by: ['parentId'], where: { parentId: { in: ids } }, _count: true }),
  ]);
  const stateOf = new Map(states.map((state) => [state.nodeId, state]));
  const sizeOf = new Map(sizes.map(({ nodeId, _sum }) => [nodeId, Number(_sum.bytes ?? 0)]));
  const subsOf = new Map(subs.map(({ parentId, _count }) => [parentId, _count]));
  const at = now();
  const latest = latestOf(releases, 'agent')?.manifest.version ?? null;
  return rows.map((row) =>
    nodeOf(
      row,
      {
        standsIn: standing.has(row.id),
        state: stateOf.get(row.id),
        latest,
        cacheBytes: sizeOf.get(row.id) ?? 0,
        subCount: subsOf.get(row.id) ?? 0,
      },
      at,
    ),
  );
}

const nodeOf = (row: Row, { standsIn, state, latest, cacheBytes, subCount }: RowDetails, now: Date): EdgeNode => ({
  id: row.id,
  name: row.name,
  ip: row.ip,
  zoneID: row.zoneId,
  zoneName: row.zone.name,
  type: 'normal',
  role: row.role === 'backup' ? 'backup' : 'main',
  kind: row.kind === 'relay' ? 'relay' : 'edge',
  relayPort: row.relayPort,
  portType: NodePortType.parse(row.portType),
  bandwidthMbps: row.bandwidthMbps,
  enabled: row.enabled,
  status: nodeStatus({ ...row, standsIn }, state ?? null, now),
  forceBackup: row._count.members > 0,
  drainEndsAt: !row.enabled && row.drainEndsAt !== null && row.drainEndsAt > now ? row.drainEndsAt : null,
  initialized: row.joinedAt !== null,
  currentSerial: state?.revision ?? 0,
  latestSerial: row.zone.revision,
  syncedAt: state?.syncedAt ?? null,
  lastSeenAt: state?.lastSeenAt ?? null,
  version: state?.version ?? '',
  release: state?.release ?? null,
  packs: ReleaseProduct.options.flatMap((product) => {
    const version = Packs.safeParse(state?.packs).data?.[product];
    return version === undefined ? [] : [{ product, version }];
  }),
  upgradeStatus: upgradeStatus(state, latest),
  error: errorOf(state),
  clockOffsetMs: state?.clockOffsetMs ?? null,
  load: state?.connectedAt ? (NodeLoad.safeParse(state.load).data ?? null) : null,
  cacheBytes,
  memo: row.memo,
  cacheMaxBytes: Number(row.cacheMaxBytes),
  cacheDir: row.cacheDir,
  logRotateSeconds: row.logRotateSeconds,
  geneva: { packetSize: row.genevaPacketSize, windowSize: row.genevaWindowSize },
  monitor: NodeMonitor.nullable().parse(row.monitor),
  monitorStatus: MonitorVerdict.catch('unknown').parse(row.standing?.monitorStatus),
  ssh:
    row.sshUser === null
      ? null
      : {
          port: row.sshPort ?? 22,
          user: row.sshUser,
          hasPassword: row.sshPasswordSealed !== null,
          hasPrivateKey: row.sshPrivateKeySealed !== null,
          fingerprint: row.sshFingerprint,
        },
  parentID: row.parentId,
  parentName: row.parent?.name ?? null,
  subCount,
  moveToZoneID: row.moveToZoneId,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
