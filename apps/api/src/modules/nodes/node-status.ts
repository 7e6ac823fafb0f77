// What a node's badge says: the one place that decides it.
import * as z from 'zod';
import type { NodeStatus } from '@edgeloom/contract/nodes/nodes.ts';
import type { EdgeNode, NodeState } from '../../generated/client.ts';

/** Two heartbeats and a half: a connection that says nothing for longer is one that the server has not missed yet. */
const SILENCE_MS = 75_000;
const RECONNECTING_MS = 30_000;
/** For so long a node that served when it was last heard is taken to serve still. */
const SERVING_MS = 15 * 60_000;

export const Rejected = z.array(z.object({ key: z.string(), revision: z.int(), error: z.string() }));

type Facts = Pick<NodeState, 'connectedAt' | 'disconnectedAt' | 'lastSeenAt' | 'rejected' | 'nginx'>;

export function nodeStatus(
  { enabled, joinedAt, role }: Pick<EdgeNode, 'enabled' | 'joinedAt' | 'role'>,
  state: Facts | null,
  now: Date,
): NodeStatus {
  if (joinedAt === null) return 'uninitialized';
  if (!enabled) return 'disabled';
  const agoMs = (at: Date | null | undefined) => (at ? now.getTime() - at.getTime() : Infinity);

  const isConnected = state?.connectedAt && agoMs(state.lastSeenAt) < SILENCE_MS;
  if (isConnected && Rejected.parse(state.rejected).length > 0) return 'rejected';
  if (isConnected) return role === 'backup' ? 'backupPaused' : 'enabled';
  if (agoMs(state?.disconnectedAt) < RECONNECTING_MS) return 'reconnecting';
  return state?.nginx === 'running' && agoMs(state.lastSeenAt) < SERVING_MS ? 'natsError' : 'offline';
}
