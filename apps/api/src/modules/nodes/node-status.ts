// What a node's badge says: the one place that decides it.
import * as z from 'zod';
import { compareVersions, ReleaseVersion } from '@edgeloom/contract/edge/releases.ts';
import type { NodeStatus } from '@edgeloom/contract/nodes/nodes.ts';
import { UpgradeStatus } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { EdgeNode, NodeState } from '../../generated/client.ts';

/** Two heartbeats and a half: a connection that says nothing for longer is one that the server has not missed yet. */
const SILENCE_MS = 75_000;
const RECONNECTING_MS = 30_000;
/** For so long a node that served when it was last heard is taken to serve still. */
const SERVING_MS = 15 * 60_000;

export const Rejected = z.array(z.object({ key: z.string(), revision: z.int(), error: z.string() }));

type Facts = Pick<NodeState, 'connectedAt' | 'disconnectedAt' | 'lastSeenAt' | 'rejected' | 'nginx'>;

/** `standsIn`: of a backup, it is what a line is answered with now. */
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
  const agoMs = (at: Date | null | undefined) => (at ? now.getTime() - at.getTime() : Infinity);

  const isConnected = state?.connectedAt && agoMs(state.lastSeenAt) < SILENCE_MS;
  if (isConnected && Rejected.parse(state.rejected).length > 0) return 'rejected';
  if (isConnected) return role === 'backup' && !standsIn ? 'backupPaused' : 'enabled';
  if (agoMs(state?.disconnectedAt) < RECONNECTING_MS) return 'reconnecting';
  return state !== null && isLikelyServing(state, now) ? 'natsError' : 'offline';
}

/** A node without a connection is offline once this no longer holds. */
export const isLikelyServing = ({ nginx, lastSeenAt }: Pick<Facts, 'nginx' | 'lastSeenAt'>, now: Date) =>
  nginx === 'running' && lastSeenAt !== null && now.getTime() - lastSeenAt.getTime() < SERVING_MS;

/** How its last upgrade stands; where that is over and went well, whether there is a newer agent than it has. */
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
