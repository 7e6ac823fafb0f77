// Decides a rollout's next steps. Pure: changes the given rows and records which. The caller reads and writes them in a
// transaction that locks the rollout.
import { randomUUIDv7 } from 'node:crypto';
import type { RolloutEventName, RolloutFault, RolloutState } from '@edgeloom/contract/rollouts/rollouts.ts';
import { inEnglish, saying, type Saying } from '@edgeloom/contract/rollouts/sayings.ts';
import { baselineOf, counted, likeBefore, type Answered } from './gauged.ts';
import { judged, slowFrom, whyOf, type Moment } from './gates.ts';
import { nextState, type NodeEvent } from './node-events.ts';
import { hasNotBegun, type NodeNow, type RolloutNow, type WaveNow } from './now.ts';
import { planned } from './plan.ts';

/** A node that has not rolled back within this time is abandoned. */
const BACK_MS = 300_000;
/** The default timeout of an update. */
const DONE_MS = 600_000;
/** A wave whose nodes are all offline this long passes its gate. */
const EMPTY_MS = 60_000;
/** Sample sizes for comparing nodes without and with the new version. */
const MOST_OTHERS = 20;
const MOST_HAVING = 200;
const ROUND_MS = 2000;
/** Samples of a node before its update, besides the first. */
const STEPS_BEFORE = 2;

export interface Line {
  nodeId: string | null;
  event: RolloutEventName;
  detail?: string | null;
  message?: string | null;
  saying?: Saying | null;
}

/** As data, and as English text for readers without a console. */
export const spoken = (why: Saying) => ({ message: inEnglish(why), saying: why });

/** Properties of a kind that affect decisions. */
export interface Nature {
  /** A node's update can be cancelled. Otherwise it finishes first, so that it does one thing at a time. */
  turnsAtOnce: boolean;
  /** Late nodes receive it automatically. Otherwise they are ordered as soon as they are online, also after the end. */
  reachesLateComers: boolean;
  /** The node's current state, for a rollback. */
  before: (rollout: RolloutNow, node: NodeNow) => unknown;
}

export interface Facts extends Moment {
  /** Fresh samples. Null: no reply, or unsupported. */
  samples: ReadonlyMap<string, Answered | null>;
  /** One of its nodes is in another rollout that started earlier. */
  isBehind: boolean;
}

/** Nodes to sample, with the latency limit where known. */
export interface Wanted {
  nodeId: string;
  slowMs: number | undefined;
}

export class Turn {
  readonly rollout: RolloutNow;
  readonly #now: Date;
  readonly nodes = new Set<NodeNow>();
  readonly waves = new Set<WaveNow>();
  readonly lines: Line[] = [];
  /** Set when progress or direction changed, so that listeners are notified. */
  isNews = false;
  /** The nodes whose metrics the next check needs. */
  wanted: Wanted[] = [];
  isUrgent = false;

  constructor(rollout: RolloutNow, now: Date) {
    this.rollout = rollout;
    this.#now = now;
  }

  say(event: RolloutEventName, more: Partial<Line> = {}): void {
    this.lines.push({ nodeId: null, event, ...more });
  }

  /** Ignored where the node's state has no such transition. */
  happen(node: NodeNow, event: NodeEvent, why: Saying | null = null): void {
    const state = nextState(node.state, event);
    if (state === null) return;
    const isBack = node.state === 'goingBack' || node.state === 'stuck';
    node.state = state;
    const said = why === null ? { message: null, saying: null } : spoken(why);
    Object.assign(node, said);
    this.nodes.add(node);
    this.isNews = true;
    if (event !== 'begun' && event !== 'turned') {
      node.phase = null;
      node.endedAt = this.#now;
    }
    const name = state === 'stuck' ? 'stuck' : lineOf[event];
    this.lines.push({ nodeId: node.nodeId, event: name, detail: isBack ? 'back' : null, ...said });
  }

  /** The command is repeated until it is acknowledged. */
  order(node: NodeNow, event: 'begun' | 'turned'): void {
    this.happen(node, event);
    node.orderKey = randomUUIDv7();
    node.phase = 'asked';
    node.startedAt = this.#now;
    node.endedAt = null;
  }
}

const lineOf: Record<NodeEvent, RolloutEventName> = {
  begun: 'asked',
  notThere: 'away',
  complete: 'complete',
  failed: 'failed',
  rolledBack: 'rolledBack',
  turned: 'askedBack',
  late: 'failed',
  gone: 'leftOut',
  leftOut: 'leftOut',
};

interface Stand {
  turn: Turn;
  rollout: RolloutNow;
  facts: Facts;
  nature: Nature;
}

/** Advances as far as possible without waiting. */
export function takeTurn(turn: Turn, facts: Facts, nature: Nature): void {
  const { rollout } = turn;
  const stand: Stand = { turn, rollout, facts, nature };
  leaveOut(stand);
  count(stand);
  const mark = () => `${rollout.state} ${rollout.wave} ${rollout.waves[rollout.wave]?.state}`;
  for (let before = ''; before !== mark();) {
    before = mark();
    states[rollout.state](stand);
  }
  turn.wanted.push(...watched(stand));
}

/** Excludes replaced machines: their reports are unrelated. */
function leaveOut({ turn, rollout }: Stand) {
  if (rollout.endedAt !== null) return;
  for (const node of rollout.nodes.filter(({ isGone, state }) => isGone && state !== 'leftOut')) {
    turn.happen(node, 'gone', saying('gone'));
    activate(turn, node, false);
  }
}

const states: Record<RolloutState, (stand: Stand) => void> = {
  waiting: start,
  running: advance,
  paused: advance,
  rollingBack: goBack,
  completed: catchUp,
  rolledBack: () => undefined,
};

function start({ turn, rollout, facts }: Stand) {
  if (facts.isBehind) return;
  rollout.state = 'running';
  for (const node of rollout.nodes) activate(turn, node, true);
  turn.say('begun', { message: rollout.title });
}

function activate(turn: Turn, node: NodeNow, active: boolean) {
  node.active = active;
  turn.nodes.add(node);
}

const currentWave = ({ waves, wave }: RolloutNow): WaveNow | undefined => waves[wave];
const isFast = ({ fast, strategy }: RolloutNow) => fast || strategy.type === 'allAtOnce';

function advance(stand: Stand) {
  const { turn, rollout } = stand;
  if (rollout.fast) takeFastLane(stand);
  const wave = currentWave(rollout);
  if (!wave) return complete(stand);
  turn.waves.add(wave);
  if (wave.state === 'waiting') return rollout.state === 'running' ? beginWave(stand, wave) : undefined;
  if (wave.state === 'passed' || wave.state === 'skipped') return goOn(stand);
  // All updated nodes are gone, so another node must be the first.
  if (!isFast(rollout) && rollout.nodes.some(hasNotBegun) && rollout.nodes.every(isUntold)) {
    wave.state = 'waiting';
    return;
  }
  if (wave.state === 'updating' && rollout.state === 'running') letIn(stand, wave);
  if (isFast(rollout)) giveUpTheLate(stand, DONE_MS);
  wave.gates = judged(rollout, stand.facts);
  const bad = wave.gates.find(({ state }) => state === 'failed');
  if (bad && !isFast(rollout)) {
    const why = whyOf(bad);
    turn.say('gateFailed', { nodeId: bad.nodeID, detail: bad.gate, ...spoken(why) });
    return turnBack(stand, bad.gate, why);
  }
  soak(stand, wave);
}

const isUntold = (node: NodeNow) => hasNotBegun(node) || node.state === 'leftOut';

/** All remaining nodes start at once. */
function takeFastLane({ turn, rollout }: Stand) {
  const last = rollout.waves.length - 1;
  if (rollout.wave >= last) return;
  for (const wave of rollout.waves.slice(rollout.wave, last)) {
    wave.state = wave.state === 'waiting' ? 'skipped' : 'passed';
    turn.waves.add(wave);
  }
  rollout.wave = last;
  for (const node of rollout.nodes.filter(hasNotBegun)) {
    node.wave = rollout.wave;
    turn.nodes.add(node);
  }
}

function beginWave(stand: Stand, wave: WaveNow) {
  const { turn, rollout, facts, nature } = stand;
  replan(stand, wave);
  const open = rollout.nodes.filter((node) => node.wave === wave.position && hasNotBegun(node));
  const there = open.filter(({ isConnected }) => isConnected);
  if (there.length === 0) {
    for (const node of open) turn.happen(node, 'notThere');
    const isFirst = rollout.nodes.every(hasNotBegun);
    const isEmpty = facts.now.getTime() - rollout.createdAt.getTime() > EMPTY_MS;
    // The first wave needs a node. Later waves without online nodes risk nothing.
    if (open.length > 0 && isFirst && !(nature.reachesLateComers && isEmpty)) return;
    wave.state = 'skipped';
    wave.endedAt = facts.now;
    return;
  }
  if (!isFast(rollout) && !there.every((node) => isMeasured(stand, node))) {
    // All at one moment, since the next check has no other samples.
    turn.wanted.push(...there.map(({ nodeId }) => ({ nodeId, slowMs: undefined })));
    turn.isUrgent = !there.some(({ nodeId }) => facts.samples.has(nodeId)) && there.some(({ gauges }) => !gauges);
    return;
  }
  wave.state = 'updating';
  wave.startedAt = facts.now;
  const share = saying('share', { nodes: there.length, of: rollout.nodes.length });
  turn.say('waveBegun', { detail: String(wave.position), ...spoken(share) });
  for (const node of open) {
    if (node.isConnected) begin(stand, node);
    else turn.happen(node, 'notThere');
  }
}

/** Whether the node's baseline is known, where one is needed: agents count from the first request on. */
function isMeasured({ rollout: { strategy }, facts: { samples } }: Stand, { nodeId, gauges }: NodeNow): boolean {
  if (strategy.type === 'waves' && strategy.soakSeconds === 0) return samples.has(nodeId);
  const isSilent = samples.get(nodeId) === null;
  return isSilent || (samples.has(nodeId) && (gauges?.steps.length ?? 0) >= STEPS_BEFORE);
}

/** Online nodes go before offline ones, which must not fill a wave. */
function replan({ turn, rollout }: Stand, { position }: WaveNow) {
  const open = rollout.nodes.filter(hasNotBegun);
  const begun = rollout.nodes.filter((node) => !hasNotBegun(node));
  const plan = planned(open, begun, rollout.waves.slice(position));
  for (const node of open) {
    const wave = plan.get(node.nodeId) ?? position;
    if (wave !== node.wave) turn.nodes.add(node);
    node.wave = wave;
  }
}

function begin({ turn, rollout, facts, nature }: Stand, node: NodeNow) {
  node.baseline = baselineOf(node, facts.samples.get(node.nodeId) ?? null);
  node.gauges = null;
  node.before = nature.before(rollout, node);
  activate(turn, node, true);
  turn.order(node, 'begun');
}

/** Starts nodes that were offline at their turn. */
function letIn(stand: Stand, { position }: WaveNow) {
  const { rollout } = stand;
  const back = rollout.nodes.filter((node) => node.wave <= position && hasNotBegun(node) && node.isConnected);
  for (const node of back) begin(stand, node);
}

function soak(stand: Stand, wave: WaveNow) {
  const { turn, rollout, facts } = stand;
  if (rollout.nodes.some(({ state }) => state === 'updating')) return;
  if (wave.state === 'updating') {
    const soakSeconds = rollout.strategy.type === 'waves' && !rollout.fast ? rollout.strategy.soakSeconds : 0;
    wave.state = 'soaking';
    wave.soakEndsAt = new Date(facts.now.getTime() + soakSeconds * 1000);
    // A node that just returned is checked once, too.
    wave.gates = judged(rollout, facts);
  }
  const isOver = rollout.fast || (wave.soakEndsAt !== null && facts.now >= wave.soakEndsAt);
  const isClear = isFast(rollout) || wave.gates.every(({ state }) => state === 'passed' || state === 'notJudged');
  if (!isOver || !isClear) return;
  wave.state = 'passed';
  wave.endedAt = facts.now;
  turn.say('wavePassed', { detail: String(wave.position) });
}

function goOn(stand: Stand) {
  const { rollout } = stand;
  if (rollout.wave < rollout.waves.length - 1) rollout.wave += 1;
  else complete(stand);
}

function complete({ turn, rollout, facts, nature }: Stand) {
  for (const node of rollout.nodes) {
    turn.happen(node, nature.reachesLateComers ? 'leftOut' : 'notThere');
    activate(turn, node, false);
  }
  rollout.state = 'completed';
  rollout.endedAt = facts.now;
  turn.isNews = true;
  turn.say('completed', { message: rollout.title });
}

function turnBack({ turn, rollout }: Stand, fault: RolloutFault, why: Saying) {
  rollout.state = 'rollingBack';
  rollout.fault = fault;
  Object.assign(rollout, spoken(why));
  turn.isNews = true;
  turn.say('goesBack', { detail: fault, ...spoken(why) });
}

/** All nodes, including earlier waves, so that the fleet stays uniform. */
function goBack(stand: Stand) {
  const { turn, rollout, facts, nature } = stand;
  const wave = currentWave(rollout);
  if (wave && ['updating', 'soaking'].includes(wave.state)) {
    wave.state = 'failed';
    wave.endedAt = facts.now;
    turn.waves.add(wave);
  }
  for (const node of rollout.nodes) {
    const isOverdue = since(node, facts) > deadlineMs(rollout);
    if (node.state === 'updated' || (node.state === 'updating' && (nature.turnsAtOnce || isOverdue)))
      turn.order(node, 'turned');
    if (node.state === 'goingBack' && since(node, facts) > BACK_MS) turn.happen(node, 'late', saying('lateBack'));
    turn.happen(node, 'leftOut');
  }
  if (rollout.nodes.some(({ state }) => state === 'updating' || state === 'goingBack')) return;
  for (const node of rollout.nodes) activate(turn, node, false);
  rollout.state = 'rolledBack';
  rollout.endedAt = facts.now;
  turn.isNews = true;
  turn.say('wentBack', { detail: rollout.fault, message: rollout.message, saying: rollout.saying });
}

const since = ({ startedAt }: NodeNow, { now }: Facts) => (startedAt ? now.getTime() - startedAt.getTime() : 0);
const deadlineMs = ({ strategy }: RolloutNow) =>
  strategy.type === 'waves' ? strategy.deadlineSeconds * 1000 : DONE_MS;

/** Nodes that were offline throughout receive the final version when they return. */
function catchUp(stand: Stand) {
  const { turn, rollout, nature } = stand;
  if (nature.reachesLateComers) return;
  giveUpTheLate(stand, DONE_MS);
  for (const node of rollout.nodes) {
    if (node.state === 'away' && node.isConnected && !node.isTaken) begin(stand, node);
    if (node.active && node.state !== 'updating') activate(turn, node, false);
  }
}

function giveUpTheLate({ turn, rollout, facts }: Stand, afterMs: number) {
  for (const node of rollout.nodes)
    if (node.state === 'updating' && since(node, facts) > afterMs) turn.happen(node, 'late', saying('late'));
}

function count({ turn, rollout, facts }: Stand) {
  if (rollout.endedAt !== null) return;
  for (const node of rollout.nodes) {
    const sample = facts.samples.get(node.nodeId);
    if (!sample || (node.state !== 'updated' && !hasNotBegun(node))) continue;
    node.gauges = counted(node.gauges, likeBefore(sample, node.baseline));
    turn.nodes.add(node);
  }
}

function watched({ rollout, facts }: Stand): Wanted[] {
  const { strategy, state, nodes } = rollout;
  const wave = currentWave(rollout);
  const isWatching = state === 'running' || state === 'paused';
  if (!isWatching || rollout.fast || strategy.type === 'allAtOnce' || !wave) return [];
  if (!['updating', 'soaking'].includes(wave.state)) return [];
  const connected = nodes.filter(({ isConnected }) => isConnected);
  const having = connected.filter((node) => node.state === 'updated').toSorted((a, b) => b.wave - a.wave);
  const others = connected.filter(hasNotBegun).toSorted((a, b) => Number(b.isServing) - Number(a.isServing));
  const round = Math.floor(facts.now.getTime() / ROUND_MS);
  return [...inTurn(having, round), ...others.slice(0, MOST_OTHERS)].map((node) => ({
    nodeId: node.nodeId,
    slowMs: slowFrom(node, others, strategy.gates)?.limit,
  }));
}

/** All where they are few, otherwise some in rotation. */
function inTurn<T>(all: readonly T[], round: number): T[] {
  const from = all.length <= MOST_HAVING ? 0 : (round * MOST_HAVING) % all.length;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, MOST_HAVING);
}
