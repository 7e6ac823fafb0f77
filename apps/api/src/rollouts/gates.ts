// Whether those that have it are well: asked of each before and of those that do not have it yet, so that what ails everybody
// is nobody's fault.
import type { RolloutGate, RolloutGateName, RolloutGates } from '@edgeloom/contract/rollouts/rollouts.ts';
import { inEnglish, ownWords, saying, type Saying, type SayingCode } from '@edgeloom/contract/rollouts/sayings.ts';
import { median, none, plus, recent, requestsIn, triesIn, type Counts, type Sample } from './gauged.ts';
import { hasNotBegun, type NodeNow, type RolloutNow } from './now.ts';

/** For so long a connection may be gone: an agent that starts anew, or a line that broke. */
const AWAY_MS = 30_000;
/** Fewer than these are chance, whatever their share. */
const LEAST_ERRORS = 3;
const LEAST_REFUSALS = 10;
const LEAST_SAMPLES = 5;
/** Below it nobody calls an edge slow. */
const LEAST_RISE_MS = 100;
/** In a single sample nginx may just be starting. */
const UNWELL_SAMPLES = 2;

export interface Moment {
  now: Date;
  /** Since when nodes can be reached at all: who is away because we are is not away. */
  upSince: Date;
}

export function judged(rollout: RolloutNow, moment: Moment): RolloutGate[] {
  const { strategy, wave, nodes } = rollout;
  const begun = nodes.filter((node) => node.wave <= wave);
  if (strategy.type === 'allAtOnce' || rollout.fast) return [complete(begun)];
  // Those of the waves before as well: some things take their time.
  const having = nodes.filter(({ state }) => state === 'updated');
  const untouched = nodes.filter((node) => hasNotBegun(node) && node.isConnected);
  return [
    complete(begun, { rollout, moment }),
    connected(having, moment),
    nginx(having),
    errors(having, untouched),
    risen(serverErrors(strategy.gates), having, untouched, strategy.gates.requests),
    risen(
      refusals(strategy.gates),
      having.filter(countsRefusals),
      untouched.filter(countsRefusals),
      strategy.gates.requests,
    ),
    latency(having, untouched, strategy.gates),
  ];
}

const nothing = { nodeID: null, nodeName: null, value: null, limit: null, before: null, others: null, requests: null };
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

/** What it said after it had it: by its gauges, or where it has none by a heartbeat. */
function saidOf(node: NodeNow): { nginx: string | null; error: string | null; isSure: boolean } | null {
  if (node.gauges) return { ...node.gauges.last, isSure: node.gauges.unwell >= UNWELL_SAMPLES };
  const isNews = node.lastSeenAt !== null && node.endedAt !== null && node.lastSeenAt > node.endedAt;
  return isNews ? { nginx: node.nginx, error: node.error, isSure: true } : null;
}

function nginx(having: NodeNow[]): RolloutGate {
  const ill = having.find((node) => {
    const said = saidOf(node);
    const isDown = said?.nginx === 'stopped' || said?.nginx === 'rolledBack';
    return said?.isSure === true && isDown && node.baseline?.nginx === 'running';
  });
  if (!ill) return gate('nginx', 'passed');
  const said = saidOf(ill);
  const plain = saying(said?.nginx === 'rolledBack' ? 'rolledBack' : 'stopped');
  return gate('nginx', 'failed', { ...at(ill), ...because(said?.error == null ? plain : ownWords(said.error)) });
}

/** Errors that it did not have before, and documents refused that those without it take. */
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

/** A part of what visitors got that must not be larger than it was, nor than it is elsewhere. */
interface Part {
  name: 'serverErrors' | 'refusals';
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
/** Whom we turn away ourselves, by nginx or by the kernel: nobody complains of that in a log of errors. */
const refusals = ({ refusals: rise }: RolloutGates): Part => ({
  name: 'refusals',
  bad: ({ refused, dropped }) => refused + dropped,
  of: triesIn,
  rise,
  least: LEAST_REFUSALS,
});
const countsRefusals = ({ gauges, baseline }: NodeNow) => (gauges?.last ?? baseline)?.refused != null;

/** Each by itself, and all of them together, where each has few visitors. */
function risen({ name, bad, of, rise, least }: Part, having: NodeNow[], untouched: NodeNow[], enough: number) {
  const sum = (parts: Counts[]) => parts.reduce(plus, none);
  const share = (counts: Counts) => (of(counts) < enough ? null : bad(counts) / of(counts));
  const now = (nodes: NodeNow[]) => sum(nodes.flatMap(({ gauges }) => (gauges ? [recent(gauges, enough, of)] : [])));
  const before = (nodes: NodeNow[]) =>
    sum(nodes.flatMap(({ baseline }) => (baseline ? [{ ...baseline, refused: baseline.refused ?? 0 }] : [])));
  const others = share(now(untouched));
  let worst: RolloutGate = gate(name, 'notJudged', { others, requests: of(now(having)) });
  for (const group of [...having.map((node) => [node]), having]) {
    const counts = now(group);
    const value = share(counts);
    if (value === null) continue;
    const had = share(before(group));
    const limit = Math.min(1, Math.max(had ?? 0, others ?? 0) + rise);
    const failed = value > limit && bad(counts) >= least;
    const [node] = group;
    const found = gate(name, failed ? 'failed' : 'passed', {
      ...(group.length === 1 && node && at(node)),
      value,
      limit,
      before: had,
      others,
      requests: of(counts),
    });
    if (failed) return found;
    if ((worst.value ?? -1) <= value) worst = found;
  }
  return worst;
}

function latency(having: NodeNow[], untouched: NodeNow[], { latencyFactor, requests: least }: RolloutGates) {
  const others = median(untouched.flatMap(({ gauges }) => median(gauges?.p99s ?? []) ?? []));
  let worst: RolloutGate = gate('latency', 'notJudged', {
    others,
    requests: having.reduce((all, { gauges }) => all + (gauges ? recent(gauges, least).requests : 0), 0),
  });
  for (const node of having) {
    const { gauges, baseline } = node;
    if (!gauges || gauges.requests < least || gauges.p99s.length < LEAST_SAMPLES) continue;
    const before: Sample['p99Ms'] = baseline?.p99Ms ?? null;
    const value = median(gauges.p99s);
    if (value === null || (before === null && others === null)) continue;
    const usual = Math.max(before ?? 0, others ?? 0);
    const limit = Math.max(usual * latencyFactor, usual + LEAST_RISE_MS);
    const failed = value > limit;
    const found = gate('latency', failed ? 'failed' : 'passed', {
      ...at(node),
      value,
      limit,
      before,
      others,
      requests: gauges.requests,
    });
    if (failed) return found;
    if ((worst.value ?? -1) <= value) worst = found;
  }
  return worst;
}

/** Those that have figures of their own to tell. */
const figures: readonly SayingCode[] = ['serverErrors', 'refusals', 'latency'];

/** Of a gate that failed, and at which node; of none where it is all of them together. */
export function whyOf({ gate: name, nodeName, saying: why, ...rest }: RolloutGate): Saying {
  const { value, limit, before, others, requests } = rest;
  const code = figures.find((known) => known === name);
  const said = code ? saying(code, { value, limit, before, others, requests }) : (why ?? saying('unwell'));
  return { ...said, node: nodeName };
}
