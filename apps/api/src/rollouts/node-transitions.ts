// State transitions of a rollout's nodes. Other events are ignored, so reports may repeat, arrive late, or belong to a
// cancelled order.
import type { RolloutNodeState, UpgradeStatus } from '@edgeloom/contract/rollouts/rollouts.ts';

export type NodeEvent =
  | 'start'
  | 'offline'
  | 'complete'
  /** The node kept its former version. */
  | 'failed'
  /** The node rolled back on its own. */
  | 'rolledBack'
  | 'rollBack'
  | 'timeout'
  /** Replaced by another machine or moved to another zone: its reports are ignored. */
  | 'replaced'
  | 'skip';

const transitions: Record<RolloutNodeState, Partial<Record<NodeEvent, RolloutNodeState>>> = {
  waiting: { start: 'updating', offline: 'away', replaced: 'leftOut', skip: 'leftOut' },
  away: { start: 'updating', replaced: 'leftOut', skip: 'leftOut' },
  updating: {
    complete: 'updated',
    failed: 'failed',
    rolledBack: 'failed',
    timeout: 'failed',
    offline: 'away',
    rollBack: 'rollingBack',
    replaced: 'leftOut',
  },
  updated: { rollBack: 'rollingBack', rolledBack: 'failed', replaced: 'leftOut' },
  rollingBack: { replaced: 'leftOut', complete: 'rolledBack', failed: 'stuck', rolledBack: 'stuck', timeout: 'stuck' },
  // It was abandoned too early.
  failed: { complete: 'updated' },
  stuck: { complete: 'rolledBack' },
  rolledBack: {},
  leftOut: {},
};

export const nextState = (state: RolloutNodeState, event: NodeEvent): RolloutNodeState | null =>
  transitions[state][event] ?? null;

/** The node's own upgrade state. Undefined before it starts. */
export const upgradeStatusOf: Partial<Record<RolloutNodeState, UpgradeStatus>> = {
  updating: 'updating',
  rollingBack: 'updating',
  updated: 'updateComplete',
  failed: 'updateFailed',
  rolledBack: 'updateFailed',
  stuck: 'updateFailed',
};
