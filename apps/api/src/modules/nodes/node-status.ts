// Computes the status badge of a node.
import * as z from 'zod';
import { compareVersions, ReleaseVersion } from '@edgeloom/contract/edge/releases.ts';
import type { NodeStatus } from '@edgeloom/contract/nodes/nodes.ts';
import { UpgradeStatus } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { EdgeNode, NodeState } from '../../generated/client.ts';

/**
 * Two and a half heartbeats: a connection without one for that long is broken, although the server has not closed it
 * yet.
 */
const SILENCE_MS = 75_000;
const RECONNECTING_MS = 30_000;
/** A node that was serving at its last heartbeat is assumed to serve for this long. */
const SERVING_MS = 15 * 60_000;

export const Rejected = z.array(z.object({ key: z.string(), revision: z.int(), error: z.string() }));

type Facts = Pick<NodeState, 'connectedAt' | 'disconnectedAt' | 'lastSeenAt' | 'rejected' | 'nginx'>;

/** `standsIn`: the backup node now answers for a line. */
export function nodeStatus(
  {
    enabled,
    joinedAt,
    role,
    standsIn = false,
  }: Pick<EdgeNode, 'enabled' | 'joinedAt' | 'role'> & { standsIn?: boolean },
  state: Facts | null,
  now: Date,
): NodeStatus {
  if (joinedAt === null) return 'uninitialized';
  if (!enabled) return 'disabled';
  const connection = connectionOf(state, now);
  if (connection !== 'connected') return connection;
  if (hasRejected(state)) return 'rejected';
  return role === 'backup' && !standsIn ? 'backupPaused' : 'enabled';
}

type Connection = 'connected' | Extract<NodeStatus, 'reconnecting' | 'natsError' | 'offline'>;

export function connectionOf(state: Omit<Facts, 'rejected'> | null, now: Date): Connection {
  const agoMs = (at: Date | null | undefined) => (at ? now.getTime() - at.getTime() : Infinity);
  if (state?.connectedAt && agoMs(state.lastSeenAt) < SILENCE_MS) return 'connected';
  if (agoMs(state?.disconnectedAt) < RECONNECTING_MS) return 'reconnecting';
  return state !== null && isLikelyServing(state, now) ? 'natsError' : 'offline';
}

/** As of its last report. */
export const hasRejected = (state: Pick<Facts, 'rejected'> | null): boolean =>
  state !== null && Rejected.parse(state.rejected).length > 0;

/** A node without a connection counts as offline once this is false. */
export const isLikelyServing = ({ nginx, lastSeenAt }: Pick<Facts, 'nginx' | 'lastSeenAt'>, now: Date) =>
  nginx === 'running' && lastSeenAt !== null && now.getTime() - lastSeenAt.getTime() < SERVING_MS;

/** The state of the last upgrade; if it succeeded, whether a newer agent exists. */
export function upgradeStatus(
  state: Pick<NodeState, 'upgrade' | 'version'> | undefined,
  latest: string | null,
): UpgradeStatus {
  if (!state || state.version === '') return 'notUpdated';
  const last = UpgradeStatus.parse(state.upgrade);
  if (last === 'updating' || last === 'updateFailed') return last;
  const isKnown = ReleaseVersion.safeParse(state.version).success;
  const isBehind = latest !== null && (!isKnown || compareVersions(state.version, latest) < 0);
  return isBehind ? 'notUpdated' : 'updateComplete';
}
