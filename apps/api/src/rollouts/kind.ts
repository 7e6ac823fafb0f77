// What is different between the things that go to nodes in waves. A new kind is a file with one of these, and its name in
// kinds.ts.
import type { PoolClient } from 'pg';
import type { Saying } from '@edgeloom/contract/rollouts/sayings.ts';
import type { Installation } from '../core/installation.ts';
import type { Order } from '../node-link/commands.ts';
import type { NodeEvent } from './node-events.ts';
import type { NodeNow, RolloutNow } from './now.ts';
import type { Nature } from './turn.ts';

export interface Progress {
  event: Extract<NodeEvent, 'complete' | 'failed'>;
  /** In the node's own words. */
  message: string | null;
}

export interface Kind extends Nature {
  /** Writes down for the nodes what follows from how the rollout stands, in the transaction that made it stand so: who has
   *  it (`holds`) while it goes forward, that nobody has it while it goes back, that all have it when it is `completed`. */
  tell?: (client: PoolClient, rollout: RolloutNow) => Promise<void>;
  /** How far those are that are `updating` or `goingBack`, for kinds whose nodes do not report; the others are left out. */
  look?: (client: PoolClient, rollout: RolloutNow) => Promise<Map<NodeNow, Progress>>;
  /** What one of those is asked until it has answered, for kinds whose nodes do; or why it cannot be. */
  order?: (here: Installation, rollout: RolloutNow, node: NodeNow, now: Date) => Promise<Order | Saying>;
}
