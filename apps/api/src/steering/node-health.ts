// Node health for DNS: the operator's settings, the node's own reports, and active probes.
import type { OutReason } from '@edgeloom/contract/groups/groups.ts';
import type { MonitorVerdict } from '@edgeloom/contract/nodes/nodes.ts';
import { verdictOf, type MonitorCounts } from '../monitors/verdict.ts';

export interface NodeFacts {
  id: string;
  zoneId: string;
  name: string;
  ip: string;
  role: string;
  kind: string;
  enabled: boolean;
  drainEndsAt: Date | null;
  joinedAt: Date | null;
  parentId: string | null;
  bandwidthMbps: number;
  /** The node always stays in DNS (`monitor.failAction` is none). */
  isAlwaysInDns: boolean;
  connectedAt: Date | null;
  lastSeenAt: Date | null;
  nginx: string | null;
  /** Sent bits per second. */
  sent: number | null;
  /** Results of its zone's monitors. Null: it is not monitored. */
  monitors: MonitorCounts | null;
}

/** The health of a node, stored between passes. */
export interface NodeHealth {
  isIn: boolean;
  reason: OutReason | null;
  since: Date;
  /** When an unhealthy node became healthy again. It returns after RECOVERY_MS. */
  wellSince: Date | null;
  /** Consecutive failed probes. */
  failures: number;
  isBusy: boolean;
  monitorStatus: MonitorVerdict;
  /** Start of the current `monitorStatus`. Null: it was never known. */
  monitorSince: Date | null;
  /** While `monitorStatus` is error: since when its monitors have results without one. */
  monitorClearSince: Date | null;
  /** While `monitorStatus` is error: since when all of its monitors are silent. */
  monitorSilentSince: Date | null;
}

/** After this silence a connection is considered dead, even if NATS has not noticed. */
const OFFLINE_AFTER_MS = 75_000;
/** A single probe may be lost. */
const MAX_FAILURES = 2;
/** A lost node returns after being healthy this long. */
const RECOVERY_MS = 10_000;
/** A node in error returns after its monitors have found none this long, since many fail only under load. */
const MONITOR_RECOVERY_MS = 30_000;
/** While all of its monitors are silent, a node stays in error this long: the control plane may have been away. */
const MONITOR_SILENCE_MS = 300_000;
/** Share of the line's bandwidth. A busy node stays busy until it falls below CALM_SHARE. */
const BUSY_SHARE = 1;
const NOT_BUSY_SHARE = 0.8;

/** The node sends no reports. It is probed before it is removed, since it may still serve. */
export const isAway = ({ connectedAt, lastSeenAt }: Pick<NodeFacts, 'connectedAt' | 'lastSeenAt'>, now: Date) =>
  connectedAt === null ||
  now.getTime() - Math.max(lastSeenAt?.getTime() ?? 0, connectedAt.getTime()) > OFFLINE_AFTER_MS;

/** Another address of its parent's machine, which sends no reports. */
const isAddress = ({ joinedAt, parentId }: NodeFacts) => joinedAt === null && parentId !== null;

/** Whether the node should be probed. */
export const needsProbe = (node: NodeFacts, now: Date) =>
  node.joinedAt !== null && node.enabled && node.kind === 'edge' && isAway(node, now);

/** `reached`: result of a probe. Null: not probed. */
export function nodeHealthOf(
  node: NodeFacts,
  before: NodeHealth | null,
  reached: boolean | null,
  now: Date,
): NodeHealth {
  const failures = failuresOf(node, before, reached, now);
  const lasting = { failures, isBusy: busyOf(node, before), ...monitorStateOf(node, before, now) };
  const excluded = exclusionOf(node, now);
  const fault =
    excluded === null && !node.isAlwaysInDns && !isAddress(node) ? faultOf(node, before, failures, now) : null;
  if (excluded !== null || fault !== null) return out(excluded ?? fault, null);
  const wasUnhealthy = before !== null && !before.isIn && isFault(before.reason) && !node.isAlwaysInDns;
  if (!wasUnhealthy) return { isIn: true, reason: null, since: sinceOf(null), wellSince: null, ...lasting };
  const wellSince = before.wellSince ?? now;
  if (now.getTime() - wellSince.getTime() < RECOVERY_MS) return out('recovering', wellSince);
  return { isIn: true, reason: null, since: now, wellSince: null, ...lasting };

  function out(reason: OutReason | null, wellSince: Date | null): NodeHealth {
    return { isIn: false, reason, since: sinceOf(reason), wellSince, ...lasting };
  }
  function sinceOf(reason: OutReason | null) {
    return before?.reason === reason ? before.since : now;
  }
}

function monitorStateOf({ monitors }: NodeFacts, before: NodeHealth | null, now: Date) {
  const { monitorStatus: last = 'unknown', monitorSince = null } = before ?? {};
  const verdict = monitors === null ? 'unknown' : verdictOf(monitors, last);
  if (last === 'error' && verdict !== 'error' && monitors !== null && monitors.monitors > 0) {
    const recovery = recoveryOf(monitors, before, now);
    if (!recovery.isOver) return { monitorStatus: last, monitorSince, ...recovery.since };
  }
  const since = { monitorClearSince: null, monitorSilentSince: null };
  return { monitorStatus: verdict, monitorSince: verdict === last ? monitorSince : now, ...since };
}

/** Silence proves nothing, so results after it begin a recovery of their own. */
function recoveryOf({ failing, passing }: MonitorCounts, before: NodeHealth | null, now: Date) {
  const isSilent = failing + passing === 0;
  const since = (isSilent ? before?.monitorSilentSince : before?.monitorClearSince) ?? now;
  const waitMs = isSilent ? MONITOR_SILENCE_MS : MONITOR_RECOVERY_MS;
  return {
    isOver: now.getTime() - since.getTime() >= waitMs,
    since: { monitorClearSince: isSilent ? null : since, monitorSilentSince: isSilent ? since : null },
  };
}

function failuresOf(node: NodeFacts, before: NodeHealth | null, reached: boolean | null, now: Date): number {
  if (!isAway(node, now) || reached === true) return 0;
  // A node that was never healthy is not trusted.
  if (before === null) return MAX_FAILURES;
  return reached === false ? Math.min(before.failures + 1, MAX_FAILURES) : before.failures;
}

function exclusionOf(node: NodeFacts, now: Date): OutReason | null {
  if (node.kind !== 'edge') return 'relay';
  if (!node.enabled) return node.drainEndsAt !== null && node.drainEndsAt > now ? 'draining' : 'disabled';
  return node.joinedAt === null && node.parentId === null ? 'uninitialized' : null;
}

function faultOf(node: NodeFacts, before: NodeHealth | null, failures: number, now: Date): OutReason | null {
  if (!isAway(node, now)) return node.nginx === 'stopped' || node.nginx === 'unresponsive' ? 'nginx' : null;
  return failures >= MAX_FAILURES ? 'away' : null;
}

const isFault = (reason: OutReason | null) => reason === 'nginx' || reason === 'away' || reason === 'recovering';

function busyOf({ bandwidthMbps, sent }: NodeFacts, before: NodeHealth | null): boolean {
  if (bandwidthMbps === 0 || sent === null) return false;
  const share = sent / (bandwidthMbps * 1e6);
  if (share > BUSY_SHARE) return true;
  return share < NOT_BUSY_SHARE ? false : (before?.isBusy ?? false);
}

/** A sub-node is another address of its parent and shares its state. */
export function withParents(
  nodes: ReadonlyMap<string, NodeFacts>,
  healthById: ReadonlyMap<string, NodeHealth>,
): Map<string, NodeHealth> {
  return new Map(
    [...healthById].map(([id, health]) => {
      const parent = healthById.get(nodes.get(id)?.parentId ?? '');
      if (!health.isIn || parent === undefined || parent.isIn) return [id, health];
      return [id, { ...health, isIn: false, reason: 'parent' as const, since: parent.since }];
    }),
  );
}
