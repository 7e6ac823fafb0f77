// Which nodes' metrics are sampled: updated nodes, and some without the change to compare them with.
import { latencyLimit } from './metric-gates.ts';
import { isPending, type RolloutRecord } from './rollout-state.ts';

const MAX_CONTROL_NODES = 20;
const MAX_UPDATED_NODES = 200;
const ROTATION_MS = 2000;

export interface SampleRequest {
  nodeId: string;
  /** Responses above this latency count as slow. */
  slowMs: number | undefined;
}

export function nodesToSample(
  { strategy, state, fast, wave, waves, nodes }: RolloutRecord,
  now: Date,
): SampleRequest[] {
  const current = waves[wave];
  const isWatching = state === 'running' || state === 'paused';
  if (!isWatching || fast || strategy.type === 'allAtOnce' || !current) return [];
  if (!['updating', 'soaking'].includes(current.state)) return [];
  const connected = nodes.filter(({ isConnected }) => isConnected);
  const updated = connected.filter((node) => node.state === 'updated').toSorted((a, b) => b.wave - a.wave);
  const others = connected.filter(isPending).toSorted((a, b) => Number(b.isServing) - Number(a.isServing));
  const round = Math.floor(now.getTime() / ROTATION_MS);
  return [...rotate(updated, round), ...others.slice(0, MAX_CONTROL_NODES)].map((node) => ({
    nodeId: node.nodeId,
    slowMs: latencyLimit(node, others, strategy.gates)?.limit,
  }));
}

/** All nodes where they are few, otherwise a part of them in each round. */
function rotate<T>(all: readonly T[], round: number): T[] {
  const from = all.length <= MAX_UPDATED_NODES ? 0 : (round * MAX_UPDATED_NODES) % all.length;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, MAX_UPDATED_NODES);
}
