// Decides a rollout's next steps. Pure: changes the given rows and records which. The caller reads and writes them in a
// transaction that locks the rollout.
import { codedMessage, messageFields, type CodedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import type { RolloutFault, RolloutState } from '@edgeloom/contract/rollouts/rollouts.ts';
import { evaluateGates, failureOf, type GateContext } from './gates.ts';
import { addSample, baselineOf, type NodeMetrics } from './metrics-window.ts';
import type { RolloutChanges } from './rollout-changes.ts';
import { isPending, type NodeRecord, type RolloutRecord, type WaveRecord } from './rollout-state.ts';
import { nodesToSample, type SampleRequest } from './sampling.ts';
import { assignWaves } from './wave-plan.ts';

/** A node that has not rolled back within this time is abandoned. */
const ROLLBACK_TIMEOUT_MS = 300_000;
/** The default timeout of an update. */
const UPDATE_TIMEOUT_MS = 600_000;
/** A wave whose nodes are all offline this long passes its gate. */
const ALL_OFFLINE_GRACE_MS = 60_000;
/** Samples of a node before its update, besides the first. */
const BASELINE_SAMPLES = 2;

/** Properties of a kind that affect decisions. */
export interface KindTraits {
  /** A node's update can be cancelled. Otherwise it finishes first, so that it does one thing at a time. */
  canCancelUpdate: boolean;
  /** Late nodes receive it automatically. Otherwise they are ordered as soon as they are online, also after the end. */
  updatesLateNodes: boolean;
  /** The node's current state, for a rollback. */
  before: (rollout: RolloutRecord, node: NodeRecord) => unknown;
}

export interface Facts extends GateContext {
  /** Fresh samples. Null: no reply, or unsupported. */
  samples: ReadonlyMap<string, NodeMetrics | null>;
  /** One of its nodes is in another rollout that started earlier. */
  isBlocked: boolean;
}

/** Input of the next step. */
export interface NextStep {
  samples: SampleRequest[];
  isUrgent: boolean;
}

interface StateContext {
  changes: RolloutChanges;
  rollout: RolloutRecord;
  facts: Facts;
  traits: KindTraits;
  next: NextStep;
}

/** Advances as far as possible without waiting. */
export function advanceRollout(changes: RolloutChanges, facts: Facts, traits: KindTraits): NextStep {
  const { rollout } = changes;
  const context: StateContext = { changes, rollout, facts, traits, next: { samples: [], isUrgent: false } };
  skipReplaced(context);
  addSamples(context);
  const position = () => `${rollout.state} ${rollout.wave} ${rollout.waves[rollout.wave]?.state}`;
  for (let before = ''; before !== position();) {
    before = position();
    states[rollout.state](context);
  }
  context.next.samples.push(...nodesToSample(rollout, facts.now));
  return context.next;
}

/** Excludes replaced machines: their reports are unrelated. */
function skipReplaced({ changes, rollout }: StateContext) {
  if (rollout.endedAt !== null) return;
  for (const node of rollout.nodes.filter(({ isGone, state }) => isGone && state !== 'leftOut')) {
    changes.transition(node, 'replaced', codedMessage('removed'));
    changes.activate(node, false);
  }
}

const states: Record<RolloutState, (context: StateContext) => void> = {
  waiting: start,
  running: advance,
  paused: advance,
  rollingBack: rollBack,
  completed: updateLateNodes,
  rolledBack: () => undefined,
};

function start({ changes, rollout, facts }: StateContext) {
  if (facts.isBlocked) return;
  rollout.state = 'running';
  for (const node of rollout.nodes) changes.activate(node, true);
  changes.log('started', { message: rollout.title });
}

const currentWave = ({ waves, wave }: RolloutRecord): WaveRecord | undefined => waves[wave];
const isFast = ({ fast, strategy }: RolloutRecord) => fast || strategy.type === 'allAtOnce';

function advance(context: StateContext) {
  const { changes, rollout } = context;
  if (rollout.fast) takeFastLane(context);
  const wave = currentWave(rollout);
  if (!wave) return complete(context);
  changes.waves.add(wave);
  if (wave.state === 'waiting') return rollout.state === 'running' ? startWave(context, wave) : undefined;
  if (wave.state === 'passed' || wave.state === 'skipped') return startNextWave(context);
  // All updated nodes are gone, so another node must be the first.
  if (!isFast(rollout) && rollout.nodes.some(isPending) && rollout.nodes.every(isUntouched)) {
    wave.state = 'waiting';
    return;
  }
  if (wave.state === 'updating' && rollout.state === 'running') startNextNodes(context, wave);
  if (isFast(rollout)) failOverdue(context, UPDATE_TIMEOUT_MS);
  wave.gates = evaluateGates(rollout, context.facts);
  const failed = wave.gates.find(({ state }) => state === 'failed');
  if (failed && !isFast(rollout)) {
    const reason = failureOf(failed);
    changes.log('gateFailed', { nodeId: failed.nodeID, detail: failed.gate, ...messageFields(reason) });
    return startRollback(context, failed.gate, reason);
  }
  soak(context, wave);
}

const isUntouched = (node: NodeRecord) => isPending(node) || node.state === 'leftOut';

/** All remaining nodes start at once. */
function takeFastLane({ changes, rollout }: StateContext) {
  const last = rollout.waves.length - 1;
  if (rollout.wave >= last) return;
  for (const wave of rollout.waves.slice(rollout.wave, last)) {
    wave.state = wave.state === 'waiting' ? 'skipped' : 'passed';
    changes.waves.add(wave);
  }
  rollout.wave = last;
  for (const node of rollout.nodes.filter(isPending)) {
    node.wave = rollout.wave;
    changes.nodes.add(node);
  }
}

function startWave(context: StateContext, wave: WaveRecord) {
  const { changes, rollout, facts, traits, next } = context;
  reassignWaves(context, wave);
  const open = rollout.nodes.filter((node) => node.wave === wave.position && isPending(node));
  const online = open.filter(({ isConnected }) => isConnected);
  if (online.length === 0) {
    for (const node of open) changes.transition(node, 'offline');
    const isFirst = rollout.nodes.every(isPending);
    const isEmpty = facts.now.getTime() - rollout.createdAt.getTime() > ALL_OFFLINE_GRACE_MS;
    // The first wave needs a node. Later waves without online nodes risk nothing.
    if (open.length > 0 && isFirst && !(traits.updatesLateNodes && isEmpty)) return;
    wave.state = 'skipped';
    wave.endedAt = facts.now;
    return;
  }
  if (!isFast(rollout) && !online.every((node) => isMeasured(context, node))) {
    // All at one moment, since the next check has no other samples.
    next.samples.push(...online.map(({ nodeId }) => ({ nodeId, slowMs: undefined })));
    next.isUrgent = !online.some(({ nodeId }) => facts.samples.has(nodeId)) && online.some(({ metrics }) => !metrics);
    return;
  }
  wave.state = 'updating';
  wave.startedAt = facts.now;
  const share = codedMessage('share', { nodes: online.length, of: rollout.nodes.length });
  changes.log('waveStarted', { detail: String(wave.position), ...messageFields(share) });
  for (const node of open) {
    if (node.isConnected) startNode(context, node);
    else changes.transition(node, 'offline');
  }
}

/** Whether the node's baseline is known, where one is needed. Agents without metrics have none. */
function isMeasured({ rollout: { strategy }, facts }: StateContext, { nodeId, metrics }: NodeRecord): boolean {
  const sample = facts.samples.get(nodeId);
  if (sample === undefined) return false;
  const needsBaseline = strategy.type === 'waves' && strategy.soakSeconds > 0 && sample?.delta != null;
  return !needsBaseline || (metrics?.samples.length ?? 0) >= BASELINE_SAMPLES;
}

/** Online nodes go before offline ones, which must not fill a wave. */
function reassignWaves({ changes, rollout }: StateContext, { position }: WaveRecord) {
  const open = rollout.nodes.filter(isPending);
  const started = rollout.nodes.filter((node) => !isPending(node));
  const plan = assignWaves(open, started, rollout.waves.slice(position));
  for (const node of open) {
    const wave = plan.get(node.nodeId) ?? position;
    if (wave !== node.wave) changes.nodes.add(node);
    node.wave = wave;
  }
}

function startNode({ changes, rollout, facts, traits }: StateContext, node: NodeRecord) {
  node.baseline = baselineOf(node, facts.samples.get(node.nodeId) ?? null);
  node.metrics = null;
  node.before = traits.before(rollout, node);
  changes.activate(node, true);
  changes.command(node, 'start');
}

/** Starts nodes that were offline when their wave started. */
function startNextNodes(context: StateContext, { position }: WaveRecord) {
  const { rollout } = context;
  const back = rollout.nodes.filter((node) => node.wave <= position && isPending(node) && node.isConnected);
  for (const node of back) startNode(context, node);
}

function soak(context: StateContext, wave: WaveRecord) {
  const { changes, rollout, facts } = context;
  if (rollout.nodes.some(({ state }) => state === 'updating')) return;
  if (wave.state === 'updating') {
    const soakSeconds = rollout.strategy.type === 'waves' && !rollout.fast ? rollout.strategy.soakSeconds : 0;
    wave.state = 'soaking';
    wave.soakEndsAt = new Date(facts.now.getTime() + soakSeconds * 1000);
    // A node that just returned is checked once, too.
    wave.gates = evaluateGates(rollout, facts);
  }
  const isOver = rollout.fast || (wave.soakEndsAt !== null && facts.now >= wave.soakEndsAt);
  const isClear = isFast(rollout) || wave.gates.every(({ state }) => state === 'passed' || state === 'notJudged');
  if (!isOver || !isClear) return;
  wave.state = 'passed';
  wave.endedAt = facts.now;
  changes.log('wavePassed', { detail: String(wave.position) });
}

function startNextWave(context: StateContext) {
  const { rollout } = context;
  if (rollout.wave < rollout.waves.length - 1) rollout.wave += 1;
  else complete(context);
}

function complete({ changes, rollout, facts, traits }: StateContext) {
  for (const node of rollout.nodes) {
    changes.transition(node, traits.updatesLateNodes ? 'skip' : 'offline');
    changes.activate(node, false);
  }
  rollout.state = 'completed';
  rollout.endedAt = facts.now;
  changes.hasProgressed = true;
  changes.log('completed', { message: rollout.title });
}

function startRollback({ changes, rollout }: StateContext, fault: RolloutFault, reason: CodedMessage) {
  rollout.state = 'rollingBack';
  rollout.fault = fault;
  Object.assign(rollout, messageFields(reason));
  changes.hasProgressed = true;
  changes.log('rollbackStarted', { detail: fault, ...messageFields(reason) });
}

/** All nodes, including earlier waves, so that the fleet stays uniform. */
function rollBack(context: StateContext) {
  const { changes, rollout, facts, traits } = context;
  const wave = currentWave(rollout);
  if (wave && ['updating', 'soaking'].includes(wave.state)) {
    wave.state = 'failed';
    wave.endedAt = facts.now;
    changes.waves.add(wave);
  }
  for (const node of rollout.nodes) {
    const isOverdue = since(node, facts) > deadlineMs(rollout);
    if (node.state === 'updated' || (node.state === 'updating' && (traits.canCancelUpdate || isOverdue)))
      changes.command(node, 'rollBack');
    if (node.state === 'rollingBack' && since(node, facts) > ROLLBACK_TIMEOUT_MS)
      changes.transition(node, 'timeout', codedMessage('rollbackTimedOut'));
    changes.transition(node, 'skip');
  }
  if (rollout.nodes.some(({ state }) => state === 'updating' || state === 'rollingBack')) return;
  for (const node of rollout.nodes) changes.activate(node, false);
  rollout.state = 'rolledBack';
  rollout.endedAt = facts.now;
  changes.hasProgressed = true;
  changes.log('rollbackCompleted', {
    detail: rollout.fault,
    message: rollout.message,
    messageCode: rollout.messageCode,
  });
}

const since = ({ startedAt }: NodeRecord, { now }: Facts) => (startedAt ? now.getTime() - startedAt.getTime() : 0);
const deadlineMs = ({ strategy }: RolloutRecord) =>
  strategy.type === 'waves' ? strategy.deadlineSeconds * 1000 : UPDATE_TIMEOUT_MS;

/** Nodes that were offline throughout receive the final version when they return. */
function updateLateNodes(context: StateContext) {
  const { changes, rollout, traits } = context;
  if (traits.updatesLateNodes) return;
  failOverdue(context, UPDATE_TIMEOUT_MS);
  for (const node of rollout.nodes) {
    if (node.state === 'away' && node.isConnected && !node.isTaken) startNode(context, node);
    if (node.active && node.state !== 'updating') changes.activate(node, false);
  }
}

function failOverdue({ changes, rollout, facts }: StateContext, afterMs: number) {
  for (const node of rollout.nodes)
    if (node.state === 'updating' && since(node, facts) > afterMs)
      changes.transition(node, 'timeout', codedMessage('timedOut'));
}

function addSamples({ changes, rollout, facts }: StateContext) {
  if (rollout.endedAt !== null) return;
  for (const node of rollout.nodes) {
    const sample = facts.samples.get(node.nodeId);
    if (!sample || (node.state !== 'updated' && !isPending(node))) continue;
    node.metrics = addSample(node.metrics, sample);
    changes.nodes.add(node);
  }
}
