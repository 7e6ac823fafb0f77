// Rollout gates: whether updated nodes are well, compared with themselves before and with nodes not yet updated. The
// customers with the worst figures are left out, since any customer can cause errors on its own sites.
import type { RolloutGate, RolloutGateName, RolloutGates } from '@edgeloom/contract/rollouts/rollouts.ts';
import { inEnglish, ownWords, saying, type Saying, type SayingCode } from '@edgeloom/contract/rollouts/sayings.ts';
import { figuresWithout, median, none, recent, requestsIn, sumOf, triesIn, without } from './gauged.ts';
import type { Baseline, Counts } from './gauged.ts';
import { hasNotBegun, type NodeNow, type RolloutNow } from './now.ts';

/** A connection may be gone this long: the agent restarts, or the network failed briefly. */
const AWAY_MS = 30_000;
/** Fewer errors are chance, whatever their share. */
const LEAST_ERRORS = 3;
const LEAST_REFUSALS = 10;
const LEAST_SAMPLES = 5;
/** Smaller increases of latency are ignored. */
const LEAST_RISE_MS = 100;
/** In a single sample nginx may be restarting. */
const UNWELL_SAMPLES = 2;
/** One customer in this many is left out, at least one. */
const LEFT_OUT_OF = 20;
const MOST_LEFT_OUT = 3;
/** The required share of bad requests among few remaining ones. */
const MOST_OF_FEW = 0.5;
/** The share of slow requests that p99 implies. */
const SLOW_SHARE = 0.01;

export interface Moment {
  now: Date;
  /** Since when nodes are reachable. While the control plane is disconnected, no node counts as offline. */
  upSince: Date;
  /** Customers with sites in the zones, including the operator for sites of its own. */
  customers: number;
}

export function judged(rollout: RolloutNow, moment: Moment): RolloutGate[] {
  const { strategy, wave, nodes } = rollout;
  const begun = nodes.filter((node) => node.wave <= wave);
  if (strategy.type === 'allAtOnce' || rollout.fast) return [complete(begun)];
  // Including earlier waves, since some effects take time.
  const having = nodes.filter(({ state }) => state === 'updated');
  const untouched = nodes.filter((node) => hasNotBegun(node) && node.isConnected);
  const enough = strategy.gates.requests;
  const leftOut = leftOutOf(moment.customers);
  return [
    complete(begun, { rollout, moment }),
    connected(having, moment),
    nginx(having),
    errors(having, untouched),
    risen(serverErrors(strategy.gates), having, untouched, { enough, leftOut }),
    risen(refusals(strategy.gates), having.filter(countsRefusals), untouched.filter(countsRefusals), {
      enough,
      leftOut,
    }),
    latency(having, untouched, strategy.gates, leftOut),
  ];
}

/** A single customer decides alone. */
const leftOutOf = (customers: number) =>
  customers < 2 ? 0 : Math.min(MOST_LEFT_OUT, Math.ceil(customers / LEFT_OUT_OF));

const nothing = {
  nodeID: null,
  nodeName: null,
  value: null,
  limit: null,
  before: null,
  others: null,
  requests: null,
  customers: null,
};
const gate = (name: RolloutGateName, state: RolloutGate['state'], more: Partial<RolloutGate> = {}): RolloutGate => ({
  gate: name,
  state,
  message: null,
  saying: null,
  ...nothing,
  ...more,
});
const at = ({ nodeId, name }: NodeNow) => ({ nodeID: nodeId, nodeName: name });
const because = (why: Saying) => ({ message: inEnglish(why), saying: why });

function complete(begun: NodeNow[], timed?: { rollout: RolloutNow; moment: Moment }): RolloutGate {
  const failed = begun.find(({ state }) => state === 'failed');
  if (failed) return gate('complete', 'failed', { ...at(failed), message: failed.message, saying: failed.saying });
  const open = begun.find(({ state }) => state === 'updating');
  if (!open) return gate('complete', 'passed');
  const { startedAt } = timed?.rollout.waves.find(({ position }) => position === timed.rollout.wave) ?? {};
  const deadline = timed?.rollout.strategy.type === 'waves' ? timed.rollout.strategy.deadlineSeconds * 1000 : Infinity;
  const isLate = timed && startedAt && timed.moment.now.getTime() - startedAt.getTime() > deadline;
  return isLate
    ? gate('complete', 'failed', { ...at(open), ...because(saying('late', { seconds: deadline / 1000 })) })
    : gate('complete', 'waiting');
}

function connected(having: NodeNow[], { now, upSince }: Moment): RolloutGate {
  const away = having.filter(({ isConnected }) => !isConnected);
  const goneFor = ({ awaySince, endedAt }: NodeNow) =>
    now.getTime() - Math.max(awaySince?.getTime() ?? 0, endedAt?.getTime() ?? 0, upSince.getTime());
  const gone = away.find((node) => goneFor(node) > AWAY_MS);
  if (gone) return gate('connected', 'failed', { ...at(gone), ...because(saying('away')) });
  return gate('connected', away.length > 0 ? 'waiting' : 'passed');
}

/** The node's state since the update, from metrics or else from a heartbeat. */
function saidOf(node: NodeNow): { nginx: string | null; error: string | null; isSure: boolean } | null {
  if (node.gauges) return { ...node.gauges.last, isSure: node.gauges.unwell >= UNWELL_SAMPLES };
  const isNews = node.lastSeenAt !== null && node.endedAt !== null && node.lastSeenAt > node.endedAt;
  return isNews ? { nginx: node.nginx, error: node.error, isSure: true } : null;
}

function nginx(having: NodeNow[]): RolloutGate {
  const ill = having.find((node) => {
    const said = saidOf(node);
    const isDown = ['stopped', 'rolledBack', 'unresponsive'].includes(said?.nginx ?? '');
    return said?.isSure === true && isDown && node.baseline?.nginx === 'running';
  });
  if (!ill) return gate('nginx', 'passed');
  const said = saidOf(ill);
  const plain = saying(said?.nginx === 'rolledBack' ? 'rolledBack' : 'stopped');
  return gate('nginx', 'failed', { ...at(ill), ...because(said?.error == null ? plain : ownWords(said.error)) });
}

/** New errors, and documents rejected only by updated nodes. */
function errors(having: NodeNow[], untouched: NodeNow[]): RolloutGate {
  const refusedElsewhere = new Set(untouched.flatMap(({ rejected }) => rejected.map(({ key }) => key)));
  for (const node of having) {
    const known = new Set([...refusedElsewhere, ...(node.baseline?.rejected ?? [])]);
    const refused = node.rejected.find(({ key }) => !known.has(key));
    if (refused)
      return gate('errors', 'failed', {
        ...at(node),
        ...because(ownWords(`${refused.key}: ${refused.error}`)),
      });
    const said = saidOf(node);
    if (said?.isSure === true && said.error !== null && node.baseline?.error == null)
      return gate('errors', 'failed', { ...at(node), ...because(ownWords(said.error)) });
  }
  return gate('errors', 'passed');
}

/** A share of requests that must not exceed its earlier value nor that of other nodes. */
interface Part {
  name: 'serverErrors' | 'refusals' | 'latency';
  bad: (counts: Counts) => number;
  of: (counts: Counts) => number;
  rise: number;
  least: number;
}
const serverErrors = ({ serverErrors: rise }: RolloutGates): Part => ({
  name: 'serverErrors',
  bad: (counts) => counts.serverErrors,
  of: requestsIn,
  rise,
  least: LEAST_ERRORS,
});
/** Requests refused by nginx or the kernel. They appear in no error log. */
const refusals = ({ refusals: rise }: RolloutGates): Part => ({
  name: 'refusals',
  bad: ({ refused, dropped }) => refused + dropped,
  of: triesIn,
  rise,
  least: LEAST_REFUSALS,
});
const countsRefusals = ({ gauges, baseline }: NodeNow) => (gauges?.last ?? baseline)?.refused != null;

interface Measure {
  /** Minimum number of requests for a verdict. */
  enough: number;
  leftOut: number;
}

/** A share, its limit, and the value it is compared with. */
interface Weighed {
  value: number;
  limit: number;
  before: number | null;
  others: number | null;
}

interface Compared {
  now: Counts;
  before: Counts;
  others: Counts;
}

/** Null: too few requests. */
function weighed({ bad, of, rise }: Part, { now, before, others }: Compared, enough: number): Weighed | null {
  const share = (counts: Counts) => (of(counts) < enough ? null : bad(counts) / of(counts));
  const value = share(now);
  if (value === null) return null;
  const [had, elsewhere] = [share(before), share(others)];
  return { value, limit: Math.min(1, Math.max(had ?? 0, elsewhere ?? 0) + rise), before: had, others: elsewhere };
}

const isOver = (part: Part, compared: Compared, enough: number) => {
  const found = weighed(part, compared, enough);
  return found !== null && found.value > found.limit && part.bad(compared.now) >= part.least;
};

/** Whether the share is also too large without the worst customers. */
function isBroad(part: Part, compared: Compared, { enough, leftOut }: Measure): boolean {
  let rest = compared;
  for (let i = 0; i < leftOut; i += 1) {
    const over = (one: Compared) => {
      const found = weighed(part, one, part.least);
      return found === null ? -Infinity : found.value - found.limit;
    };
    let most: string | null = null;
    let least = over(rest);
    for (const customer of Object.keys(rest.now.customers)) {
      const left = over(each(rest, (counts) => figuresWithout(counts, customer)));
      if (left < least) [most, least] = [customer, left];
    }
    if (most === null) break;
    const leaving = most;
    rest = each(rest, (counts) => without(counts, leaving));
  }
  if (part.of(rest.now) >= enough) return isOver(part, rest, enough);
  // With few remaining requests the other nodes' share is no basis for comparison.
  return isOver({ ...part, rise: Math.max(part.rise, MOST_OF_FEW) }, rest, part.least);
}

const each = ({ now, before, others }: Compared, change: (counts: Counts) => Counts): Compared => ({
  now: change(now),
  before: change(before),
  others: change(others),
});

/** The number of customers whose sites exceed the limit. */
function worseOff(part: Part, { now }: Compared, limit: number): number {
  const shares = Object.values(now.customers).map(([requests, serverErrors, refused, slow]) => {
    const counts = { ...none, requests, serverErrors, refused, slow };
    return part.bad(counts) / requests;
  });
  return shares.filter((share) => share > limit).length;
}

/** Checks each node, and all together when each has few visitors. */
function risen(part: Part, having: NodeNow[], untouched: NodeNow[], measure: Measure) {
  const { name, of } = part;
  const { enough } = measure;
  const now = (nodes: NodeNow[]) =>
    sumOf(nodes.flatMap(({ gauges, baseline }) => (gauges ? [inPlace(recent(gauges, enough, of), baseline)] : [])));
  const before = (nodes: NodeNow[]) =>
    sumOf(nodes.flatMap(({ baseline }) => (baseline ? [{ ...baseline, refused: baseline.refused ?? 0 }] : [])));
  const others = sumOf(untouched.flatMap(({ gauges }) => (gauges ? [recent(gauges, enough, of)] : [])));
  let worst: RolloutGate = gate(name, 'notJudged', {
    others: of(others) < enough ? null : part.bad(others) / of(others),
    requests: of(now(having)),
  });
  for (const group of [...having.map((node) => [node]), having]) {
    const compared: Compared = { now: now(group), before: before(group), others };
    const found = weighed(part, compared, enough);
    if (found === null) continue;
    const over = isOver(part, compared, enough);
    const failed = over && isBroad(part, compared, measure);
    const customers = worseOff(part, compared, found.limit);
    const [node] = group;
    const told = gate(name, failed ? 'failed' : 'passed', {
      ...(group.length === 1 && node && at(node)),
      ...found,
      requests: of(compared.now),
      ...(over && { customers }),
      ...(over && !failed && customers > 0 && because(saying('fewCustomers', { customers }))),
    });
    if (failed) return told;
    if ((worst.value ?? -1) <= found.value) worst = told;
  }
  return worst;
}

/** Dropped packets beyond the missing requests do not come from visitors. */
function inPlace(counts: Counts, baseline: Baseline | null): Counts {
  const usual = baseline && baseline.samples > 0 ? baseline.requests / baseline.samples : 0;
  const missing = Math.max(0, Math.round(usual * counts.samples) - counts.requests);
  return { ...counts, dropped: Math.min(counts.dropped, missing) };
}

const slowOnes: Part = {
  name: 'latency',
  bad: ({ slow }) => slow,
  of: requestsIn,
  rise: SLOW_SHARE,
  least: LEAST_ERRORS,
};

/** The latency limit of a node's slowest percent. Null: no basis for comparison. */
export function slowFrom({ baseline }: NodeNow, untouched: NodeNow[], { latencyFactor }: RolloutGates) {
  const before = baseline?.p99Ms ?? null;
  const others = median(untouched.flatMap(({ gauges }) => median(gauges?.p99s ?? []) ?? []));
  if (before === null && others === null) return null;
  const usual = Math.max(before ?? 0, others ?? 0);
  return { before, others, limit: Math.max(usual * latencyFactor, usual + LEAST_RISE_MS) };
}

function latency(having: NodeNow[], untouched: NodeNow[], gates: RolloutGates, leftOut: number) {
  const { requests: enough } = gates;
  let worst: RolloutGate = gate('latency', 'notJudged', {
    others: median(untouched.flatMap(({ gauges }) => median(gauges?.p99s ?? []) ?? [])),
    requests: having.reduce((all, { gauges }) => all + (gauges ? recent(gauges, enough).requests : 0), 0),
  });
  for (const node of having) {
    const { gauges } = node;
    if (!gauges || gauges.requests < enough || gauges.p99s.length < LEAST_SAMPLES) continue;
    const value = median(gauges.p99s);
    const usual = slowFrom(node, untouched, gates);
    if (value === null || usual === null) continue;
    const over = value > usual.limit;
    // The limit already contains the former latency.
    const compared: Compared = { now: recent(gauges, enough), before: none, others: none };
    const failed = over && (!gauges.tells || isBroad(slowOnes, compared, { enough, leftOut }));
    const customers = worseOff(slowOnes, compared, SLOW_SHARE);
    const told = gate('latency', failed ? 'failed' : 'passed', {
      ...at(node),
      ...usual,
      value,
      requests: gauges.requests,
      ...(over && { customers }),
      ...(over && !failed && customers > 0 && because(saying('fewCustomers', { customers }))),
    });
    if (failed) return told;
    if ((worst.value ?? -1) <= value) worst = told;
  }
  return worst;
}

/** Codes of messages with figures. */
const figures: readonly SayingCode[] = ['serverErrors', 'refusals', 'latency'];

/** The reason of a failed gate, with its node. No node when all together failed. */
export function whyOf({ gate: name, nodeName, saying: why, ...rest }: RolloutGate): Saying {
  const { value, limit, before, others, requests, customers } = rest;
  const code = figures.find((known) => known === name);
  const said = code ? saying(code, { value, limit, before, others, requests, customers }) : (why ?? saying('unwell'));
  return { ...said, node: nodeName };
}
