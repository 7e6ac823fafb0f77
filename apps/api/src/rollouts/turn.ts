// What follows from how a rollout stands. Pure: it changes the rows it was given and notes which; whoever reads and writes
// them does so in one transaction that holds the rollout, so that nothing moves beneath a decision.
import { randomUUIDv7 } from 'node:crypto';
import type { RolloutEventName, RolloutFault, RolloutState } from '@edgeloom/contract/rollouts/rollouts.ts';
import { inEnglish, saying, type Saying } from '@edgeloom/contract/rollouts/sayings.ts';
import { baselineOf, counted, likeBefore, type Answered } from './gauged.ts';
import { judged, slowFrom, whyOf, type Moment } from './gates.ts';
import { nextState, type NodeEvent } from './node-events.ts';
import { hasNotBegun, type NodeNow, type RolloutNow, type WaveNow } from './now.ts';
import { planned } from './plan.ts';

/** For so long a node that was told to go back may take; after that it is left as it is. */
const BACK_MS = 300_000;
/** The same where no strategy says so. */
const DONE_MS = 600_000;
/** With everybody away for so long there is nobody whom it could hurt. */
const EMPTY_MS = 60_000;
/** Of those that do not have it yet and are looked at beside those that do, and of those. */
const MOST_OTHERS = 20;
const MOST_HAVING = 200;
const ROUND_MS = 2000;
/** Samples of a node before its turn comes, after the first. */
const STEPS_BEFORE = 2;

export interface Line {
  nodeId: string | null;
  event: RolloutEventName;
  detail?: string | null;
  message?: string | null;
  saying?: Saying | null;
}

/** As data, and for whoever reads it without a console. */
export const spoken = (why: Saying) => ({ message: inEnglish(why), saying: why });

/** What a kind is like, where that makes a difference to what follows. */
export interface Nature {
  /** A node on its way can be called back; else it is let finish first, so that it does one thing at a time. */
  turnsAtOnce: boolean;
  /** Whoever comes late gets it by itself; else it is told as soon as it is there, after the end as well. */
  reachesLateComers: boolean;
  /** What it has now, to be kept for the way back. */
  before: (rollout: RolloutNow, node: NodeNow) => unknown;
}

export interface Facts extends Moment {
  /** Of nodes that were asked just now; null: it did not answer, or does not know how. */
  samples: ReadonlyMap<string, Answered | null>;
  /** One of its nodes is in another one, which began or waits for longer. */
  isBehind: boolean;
}

/** Whose gauges; and from where on a request is slow there, where that is known. */
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
  /** Who has it has changed, or which way it goes. */
  isNews = false;
  /** Whose gauges the next look needs, and whether it waits for nothing else. */
  wanted: Wanted[] = [];
  isUrgent = false;

  constructor(rollout: RolloutNow, now: Date) {
    this.rollout = rollout;
    this.#now = now;
  }

  say(event: RolloutEventName, more: Partial<Line> = {}): void {
    this.lines.push({ nodeId: null, event, ...more });
  }

  /** Nothing, where its state knows no such thing. */
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

  /** It is told, and told again until it has answered. */
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

/** Goes on as far as it goes without waiting for anybody. */
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

/** Those who are not who they were: nothing that they say is news of what they had. */
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
  // All who had it are gone: somebody else has to be the first.
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

/** Whoever is left comes now, in one go. */
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
    // Somebody has to be the first. Later waves without anybody risk nothing.
    if (open.length > 0 && isFirst && !(nature.reachesLateComers && isEmpty)) return;
    wave.state = 'skipped';
    wave.endedAt = facts.now;
    return;
  }
  if (!isFast(rollout) && !there.every((node) => isMeasured(stand, node))) {
    // Of all of them at one moment: the next look has no other samples.
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

/** How it fares is known from before, where that will be asked: an agent counts only since somebody wants to know. */
function isMeasured({ rollout: { strategy }, facts: { samples } }: Stand, { nodeId, gauges }: NodeNow): boolean {
  if (strategy.type === 'waves' && strategy.soakSeconds === 0) return samples.has(nodeId);
  const isSilent = samples.get(nodeId) === null;
  return isSilent || (samples.has(nodeId) && (gauges?.steps.length ?? 0) >= STEPS_BEFORE);
}

/** Those that are there go before those that are away: nobody may fill a wave without being in it. */
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

/** Those whose turn it was while they were away. */
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
    // Also what has just come is looked at, once.
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

/** All of them, those of earlier waves too: nobody asked for a fleet of two kinds. */
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

/** Who was away all the time has what all others have as soon as it is there. */
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

/** All where they are few, else some after the others. */
function inTurn<T>(all: readonly T[], round: number): T[] {
  const from = all.length <= MOST_HAVING ? 0 : (round * MOST_HAVING) % all.length;
  return [...all.slice(from), ...all.slice(0, from)].slice(0, MOST_HAVING);
}
