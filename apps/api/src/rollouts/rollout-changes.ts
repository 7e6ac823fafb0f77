// The changes of one step of a rollout: which rows to save, and the lines of its log.
import { randomUUIDv7 } from 'node:crypto';
import { messageFields, type CodedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import type { RolloutEventName } from '@edgeloom/contract/rollouts/rollouts.ts';
import { nextState, type NodeEvent } from './node-transitions.ts';
import type { NodeRecord, RolloutRecord, WaveRecord } from './rollout-state.ts';

export interface LogLine {
  nodeId: string | null;
  event: RolloutEventName;
  detail?: string | null;
  message?: string | null;
  messageCode?: CodedMessage | null;
}

export class RolloutChanges {
  readonly rollout: RolloutRecord;
  readonly #now: Date;
  readonly nodes = new Set<NodeRecord>();
  readonly waves = new Set<WaveRecord>();
  readonly lines: LogLine[] = [];
  /** Set when progress or direction changed, so that listeners are notified. */
  hasProgressed = false;

  constructor(rollout: RolloutRecord, now: Date) {
    this.rollout = rollout;
    this.#now = now;
  }

  log(event: RolloutEventName, more: Partial<LogLine> = {}): void {
    this.lines.push({ nodeId: null, event, ...more });
  }

  /** Ignored where the node's state has no such transition. */
  transition(node: NodeRecord, event: NodeEvent, reason: CodedMessage | null = null): void {
    const state = nextState(node.state, event);
    if (state === null) return;
    const isRollback = node.state === 'rollingBack' || node.state === 'stuck';
    const fields = reason === null ? { message: null, messageCode: null } : messageFields(reason);
    Object.assign(node, { state, ...fields });
    this.nodes.add(node);
    this.hasProgressed = true;
    if (event !== 'start' && event !== 'rollBack') {
      node.phase = null;
      node.endedAt = this.#now;
    }
    const name = state === 'stuck' ? 'stuck' : eventNames[event];
    this.lines.push({ nodeId: node.nodeId, event: name, detail: isRollback ? 'rollback' : null, ...fields });
  }

  /** The command is repeated until it is acknowledged. */
  command(node: NodeRecord, event: 'start' | 'rollBack'): void {
    this.transition(node, event);
    node.orderKey = randomUUIDv7();
    node.phase = 'asked';
    node.startedAt = this.#now;
    node.endedAt = null;
  }

  activate(node: NodeRecord, active: boolean): void {
    node.active = active;
    this.nodes.add(node);
  }
}

/** The log's names of node events. */
const eventNames: Record<NodeEvent, RolloutEventName> = {
  start: 'asked',
  offline: 'away',
  complete: 'complete',
  failed: 'failed',
  rolledBack: 'rolledBack',
  rollBack: 'rollbackRequested',
  timeout: 'failed',
  replaced: 'leftOut',
  skip: 'leftOut',
};
