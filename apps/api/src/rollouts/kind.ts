// The interface of a kind of rollout. A new kind is a file with one of these and an entry in kinds.ts.
import type { PoolClient } from 'pg';
import type { Saying } from '@edgeloom/contract/rollouts/sayings.ts';
import type { Installation } from '../core/installation.ts';
import type { Order } from '../node-link/commands.ts';
import type { NodeEvent } from './node-events.ts';
import type { NodeNow, RolloutNow } from './now.ts';
import type { Nature } from './turn.ts';

export interface Progress {
  event: Extract<NodeEvent, 'complete' | 'failed'>;
  /** In the node's words. */
  message: string | null;
}

export interface Kind extends Nature {
  /**
   * Writes what nodes must receive, in the rollout's transaction: who has the change (`holds`), nobody after a
   * rollback, everyone when `completed`.
   */
  tell?: (client: PoolClient, rollout: RolloutNow) => Promise<void>;
  /** Progress of `updating` or `goingBack` nodes, for kinds whose nodes do not report. */
  look?: (client: PoolClient, rollout: RolloutNow) => Promise<Map<NodeNow, Progress>>;
  /** The command that is sent to such a node until it responds, or why that is impossible. */
  order?: (here: Installation, rollout: RolloutNow, node: NodeNow, now: Date) => Promise<Order | Saying>;
}
