// The interface of a kind of rollout. A new kind is a file with one of these and an entry in rollout-kinds.ts.
import type { PoolClient } from 'pg';
import type { CodedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import type { Installation } from '../core/installation.ts';
import type { Order } from '../node-link/commands.ts';
import type { NodeEvent } from './node-transitions.ts';
import type { NodeRecord, RolloutRecord } from './rollout-state.ts';
import type { KindTraits } from './state-machine.ts';

export interface Progress {
  event: Extract<NodeEvent, 'complete' | 'failed'>;
  /** In the node's words. */
  message: string | null;
}

export interface Kind extends KindTraits {
  /**
   * Writes the documents for nodes in the rollout's transaction. The change applies to nodes with `hasChange`, to none
   * after a rollback, and to all when `completed`.
   */
  publish?: (client: PoolClient, rollout: RolloutRecord) => Promise<void>;
  /** Progress of `updating` or `rollingBack` nodes, for kinds whose nodes do not report. */
  readProgress?: (client: PoolClient, rollout: RolloutRecord) => Promise<Map<NodeRecord, Progress>>;
  /** The command that is sent to such a node until it responds, or why that is impossible. */
  commandFor?: (
    installation: Installation,
    rollout: RolloutRecord,
    node: NodeRecord,
    now: Date,
  ) => Promise<Order | CodedMessage>;
}
