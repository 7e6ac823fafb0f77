// Rollout gates: whether updated nodes are healthy. metric-gates.ts has those on visitors' traffic.
import {
  codedMessage,
  messageFields,
  verbatim,
  type CodedMessage,
  type MessageCode,
} from '@edgeloom/contract/rollouts/messages.ts';
import type { RolloutGate } from '@edgeloom/contract/rollouts/rollouts.ts';
import { gateState, metricGates } from './metric-gates.ts';
import { isPending, type NodeRecord, type RolloutRecord } from './rollout-state.ts';

/** A connection may be gone this long: the agent restarts, or the network failed briefly. */
const OFFLINE_GRACE_MS = 30_000;
/** In a single sample nginx may be restarting. */
const MIN_UNHEALTHY_SAMPLES = 2;

export interface GateContext {
  now: Date;
  /** Since when nodes are reachable. While the control plane is disconnected, no node counts as offline. */
  upSince: Date;
  /** Customers with sites in the zones, including the operator if it has sites. */
  customers: number;
}

export function evaluateGates(rollout: RolloutRecord, context: GateContext): RolloutGate[] {
  const { strategy, wave, nodes } = rollout;
  const started = nodes.filter((node) => node.wave <= wave);
  if (strategy.type === 'allAtOnce' || rollout.fast) return [complete(started, null)];
  const startedAt = rollout.waves.find(({ position }) => position === wave)?.startedAt ?? context.now;
  const isLate = context.now.getTime() - startedAt.getTime() > strategy.deadlineSeconds * 1000;
  // Including earlier waves, since some effects take time.
  const updated = nodes.filter(({ state }) => state === 'updated');
  const others = nodes.filter((node) => isPending(node) && node.isConnected);
  return [
    complete(started, isLate ? strategy.deadlineSeconds : null),
    connected(updated, context),
    nginx(updated),
    errors(updated, others),
    ...metricGates({ updated, others, gates: strategy.gates, customers: context.customers }),
  ];
}

const failedAt = (gate: RolloutGate['gate'], { nodeId, name }: NodeRecord, more: Partial<RolloutGate>) =>
  gateState(gate, 'failed', { nodeID: nodeId, nodeName: name, ...more });

/** `exceeded`: the deadline in seconds, once it has passed. */
function complete(started: NodeRecord[], exceeded: number | null): RolloutGate {
  const failed = started.find(({ state }) => state === 'failed');
  if (failed) return failedAt('complete', failed, { message: failed.message, messageCode: failed.messageCode });
  const open = started.find(({ state }) => state === 'updating');
  if (!open) return gateState('complete', 'passed');
  return exceeded === null
    ? gateState('complete', 'waiting')
    : failedAt('complete', open, messageFields(codedMessage('timedOut', { seconds: exceeded })));
}

function connected(updated: NodeRecord[], { now, upSince }: GateContext): RolloutGate {
  const offline = updated.filter(({ isConnected }) => !isConnected);
  const offlineMs = ({ awaySince, endedAt }: NodeRecord) =>
    now.getTime() - Math.max(awaySince?.getTime() ?? 0, endedAt?.getTime() ?? 0, upSince.getTime());
  const lost = offline.find((node) => offlineMs(node) > OFFLINE_GRACE_MS);
  if (lost) return failedAt('connected', lost, messageFields(codedMessage('away')));
  return gateState('connected', offline.length > 0 ? 'waiting' : 'passed');
}

/** The node's state since the update, from metrics or else from a heartbeat. Null: unknown, or not yet certain. */
function stateSinceUpdate(node: NodeRecord): { nginx: string | null; error: string | null } | null {
  if (node.metrics) return node.metrics.unhealthySamples >= MIN_UNHEALTHY_SAMPLES ? node.metrics : null;
  const isRecent = node.lastSeenAt !== null && node.endedAt !== null && node.lastSeenAt > node.endedAt;
  return isRecent ? node : null;
}

function nginx(updated: NodeRecord[]): RolloutGate {
  for (const node of updated) {
    const state = stateSinceUpdate(node);
    const isDown = ['stopped', 'rolledBack', 'unresponsive'].includes(state?.nginx ?? '');
    if (!isDown || node.baseline?.nginx !== 'running') continue;
    const plain = codedMessage(state?.nginx === 'rolledBack' ? 'rolledBack' : 'stopped');
    return failedAt('nginx', node, messageFields(state?.error == null ? plain : verbatim(state.error)));
  }
  return gateState('nginx', 'passed');
}

/** New errors, and documents rejected only by updated nodes. */
function errors(updated: NodeRecord[], others: NodeRecord[]): RolloutGate {
  const rejectedElsewhere = others.flatMap(({ rejected }) => rejected.map(({ key }) => key));
  for (const node of updated) {
    const known = new Set([...rejectedElsewhere, ...(node.baseline?.rejected ?? [])]);
    const rejected = node.rejected.find(({ key }) => !known.has(key));
    if (rejected) return failedAt('errors', node, messageFields(verbatim(`${rejected.key}: ${rejected.error}`)));
    const error = stateSinceUpdate(node)?.error ?? null;
    if (error !== null && node.baseline?.error == null) return failedAt('errors', node, messageFields(verbatim(error)));
  }
  return gateState('errors', 'passed');
}

const withFigures: readonly MessageCode[] = ['serverErrors', 'refusals', 'latency'];

/** Why a gate failed, with its nodes. */
export function failureOf({ gate, nodeName, messageCode, ...rest }: RolloutGate): CodedMessage {
  const { value, limit, before, others, requests, customers } = rest;
  const code = withFigures.find((known) => known === gate);
  const message = code
    ? codedMessage(code, { value, limit, before, others, requests, customers })
    : (messageCode ?? codedMessage('unhealthy'));
  return { ...message, node: nodeName };
}
