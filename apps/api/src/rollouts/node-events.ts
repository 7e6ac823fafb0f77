// State transitions of a rollout's nodes. Other events are ignored, so reports may repeat, arrive late, or belong to a
// cancelled order.
import type { RolloutNodeState, UpgradeStatus } from '@edgeloom/contract/rollouts/rollouts.ts';

export type NodeEvent =
  | 'begun'
  | 'notThere'
  | 'complete'
  /** Kept its former version. */
  | 'failed'
  /** Rolled back on its own. */
  | 'rolledBack'
  | 'turned'
  | 'late'
  /** Replaced by another machine or moved to another zone: its reports are ignored. */
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
  // It was abandoned too early.
  failed: { complete: 'updated' },
  stuck: { complete: 'back' },
  back: {},
  leftOut: {},
};

export const nextState = (state: RolloutNodeState, event: NodeEvent): RolloutNodeState | null =>
  becomes[state][event] ?? null;

/** The node's own upgrade state. Undefined before it starts. */
export const upgradeOf: Partial<Record<RolloutNodeState, UpgradeStatus>> = {
  updating: 'updating',
  goingBack: 'updating',
  updated: 'updateComplete',
  failed: 'updateFailed',
  back: 'updateFailed',
  stuck: 'updateFailed',
};
