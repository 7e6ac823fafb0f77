// What may happen to a node of a rollout, and what becomes of it. What is not in the table changes nothing, so that a
// report may come twice, late, or from an order that was taken back.
import type { RolloutNodeState, UpgradeStatus } from '@edgeloom/contract/rollouts/rollouts.ts';

export type NodeEvent =
  | 'begun'
  | 'notThere'
  | 'complete'
  /** It kept what it had. */
  | 'failed'
  /** It took back by itself what it had. */
  | 'rolledBack'
  | 'turned'
  | 'late'
  /** Another machine has its place, or it is in another zone: what it says is nothing to this rollout. */
  | 'gone'
  | 'leftOut';

const becomes: Record<RolloutNodeState, Partial<Record<NodeEvent, RolloutNodeState>>> = {
  waiting: { begun: 'updating', notThere: 'away', gone: 'leftOut', leftOut: 'leftOut' },
  away: { begun: 'updating', gone: 'leftOut', leftOut: 'leftOut' },
  updating: {
    complete: 'updated',
    failed: 'failed',
    rolledBack: 'failed',
    late: 'failed',
    notThere: 'away',
    turned: 'goingBack',
    gone: 'leftOut',
  },
  updated: { turned: 'goingBack', rolledBack: 'failed', gone: 'leftOut' },
  goingBack: { gone: 'leftOut', complete: 'back', failed: 'stuck', rolledBack: 'stuck', late: 'stuck' },
  // Given up too early.
  failed: { complete: 'updated' },
  stuck: { complete: 'back' },
  back: {},
  leftOut: {},
};

export const nextState = (state: RolloutNodeState, event: NodeEvent): RolloutNodeState | null =>
  becomes[state][event] ?? null;

/** What the node's own row says from then on; nothing where it has not begun. */
export const upgradeOf: Partial<Record<RolloutNodeState, UpgradeStatus>> = {
  updating: 'updating',
  goingBack: 'updating',
  updated: 'updateComplete',
  failed: 'updateFailed',
  back: 'updateFailed',
  stuck: 'updateFailed',
};
