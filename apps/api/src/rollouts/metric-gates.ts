// Gates on visitors' traffic, with one rule (docs/upgrades.md, "Gates on traffic"). A gate fails when the share of bad
// requests exceeds its limit. The share must still exceed the limit without the customers that got worse most.
// Otherwise one customer could roll back every change by causing errors on its own sites.
import { codedMessage, messageFields } from '@edgeloom/contract/rollouts/messages.ts';
import type { RolloutGate, RolloutGateName, RolloutGates } from '@edgeloom/contract/rollouts/rollouts.ts';
import { median, recentCounts, sumCounts, withoutCustomers, type Counts, type Traffic } from './metrics-window.ts';
import type { NodeRecord } from './rollout-state.ts';

/** Smaller increases of p99 latency are ignored. */
const MIN_INCREASE_MS = 100;
/** The limit where fewer requests remain than the gates require. */
const FEW_REQUESTS_LIMIT = 0.5;
/** One customer in this many is left out, at least one. */
const CUSTOMERS_PER_LEFT_OUT = 20;
const MAX_LEFT_OUT = 3;
/** Failing nodes that a message names. */
const MAX_NAMES = 3;

interface Metric {
  name: 'serverErrors' | 'refusals' | 'latency';
  /** The position of bad requests in `Traffic`. */
  index: 1 | 2 | 3;
  /** How far the share may rise. */
  rise: number;
  /** Fewer bad requests are random, at any share. */
  minBad: number;
}

/** Updated nodes now, the same nodes before, and the nodes without the change now. */
interface Compared {
  now: Counts;
  before: Counts;
  others: Counts;
}

export interface GateInput {
  updated: NodeRecord[];
  /** Connected nodes without the change. */
  others: NodeRecord[];
  gates: RolloutGates;
  /** Customers with sites in the zones. */
  customers: number;
}

export function metricGates(input: GateInput): RolloutGate[] {
  const measured = measure(input);
  const { serverErrors, refusals } = input.gates;
  return [
    shareGate({ name: 'serverErrors', index: 1, rise: serverErrors, minBad: 3 }, input, measured),
    shareGate({ name: 'refusals', index: 2, rise: refusals, minBad: 10 }, input, measured),
    latencyGate(input, measured),
  ];
}

type Measured = ReturnType<typeof measure>;

/** Updated nodes with a baseline, the slowest first, and the sum of the other nodes. */
function measure({ updated, others, gates }: GateInput) {
  const recent = ({ metrics }: NodeRecord) => (metrics ? [recentCounts(metrics, gates.requests)] : []);
  const slowestFirst = updated.toSorted((a, b) => (p99Of(b) ?? 0) - (p99Of(a) ?? 0));
  const nodes = slowestFirst.flatMap((node) => {
    const before = node.baseline?.counts;
    return before ? recent(node).map((now) => ({ node, before, now: withoutStrayPackets(now, before) })) : [];
  });
  return { nodes, others: sumCounts(others.flatMap(recent)) };
}

/** Evaluates each updated node, and all together, since each alone may have too few requests. */
function shareGate(
  metric: Metric,
  { gates, customers }: GateInput,
  { nodes: measured, others }: Measured,
): RolloutGate {
  const judge = (nodes: Measured['nodes']) => {
    const [now, before] = [sumCounts(nodes.map((one) => one.now)), sumCounts(nodes.map((one) => one.before))];
    return verdictOf(metric, { now, before, others }, gates.requests, leftOutOf(customers));
  };
  const failing = measured.filter((one) => judge([one])?.isFailed);
  const shown = failing.length > 0 ? failing : measured;
  const verdict = judge(shown);
  if (!verdict) {
    const requests = total(metric, sumCounts(measured.map(({ now }) => now)));
    return gateState(metric.name, 'notJudged', { requests });
  }
  const { isFailed, ...figures } = verdict;
  const hasFailed = isFailed || failing.length > 0;
  const isNoted = !hasFailed && (figures.customers ?? 0) > 0;
  return gateState(metric.name, hasFailed ? 'failed' : 'passed', {
    ...figures,
    ...namesOf(shown.map(({ node }) => node)),
    ...(isNoted && messageFields(codedMessage('fewCustomers', { customers: figures.customers }))),
  });
}

/** Null: too few requests. `customers`: how many got worse, once the share is above its limit. */
function verdictOf(metric: Metric, compared: Compared, minRequests: number, leftOut: number) {
  const figures = compare(metric, compared, minRequests);
  if (!figures) return null;
  const verdict = { ...figures, requests: total(metric, compared.now), customers: null, isFailed: false };
  if (!isAboveLimit(metric, compared, minRequests)) return verdict;
  const worse = customersWorseOff(metric, compared);
  const rest = leaveOut(compared, worse.slice(0, leftOut));
  const rise = total(metric, rest.now) < minRequests ? Math.max(metric.rise, FEW_REQUESTS_LIMIT) : metric.rise;
  return { ...verdict, customers: worse.length, isFailed: isAboveLimit({ ...metric, rise }, rest, metric.minBad) };
}

/** A single customer decides alone. */
const leftOutOf = (customers: number) =>
  customers < 2 ? 0 : Math.min(MAX_LEFT_OUT, Math.ceil(customers / CUSTOMERS_PER_LEFT_OUT));

/** Dropped packets count as refused requests. */
const bad = ({ index }: Metric, { traffic, dropped }: Counts) => traffic[index] + (index === 2 ? dropped : 0);
const total = ({ index }: Metric, { traffic, dropped }: Counts) => traffic[0] + (index === 2 ? dropped : 0);

function compare(metric: Metric, { now, before, others }: Compared, minRequests: number) {
  const share = (counts: Counts) =>
    total(metric, counts) < minRequests ? null : bad(metric, counts) / total(metric, counts);
  const [value, earlier, elsewhere] = [share(now), share(before), share(others)];
  if (value === null) return null;
  const limit = Math.min(1, Math.max(earlier ?? 0, elsewhere ?? 0) + metric.rise);
  return { value, limit, before: earlier, others: elsewhere };
}

function isAboveLimit(metric: Metric, compared: Compared, minRequests: number): boolean {
  const figures = compare(metric, compared, minRequests);
  return figures !== null && figures.value > figures.limit && bad(metric, compared.now) >= metric.minBad;
}

/** Customers above their own usual share, those with the most additional bad requests first. */
function customersWorseOff({ index, rise }: Metric, { now, before, others }: Compared): string[] {
  const shareOf = (traffic: Traffic | undefined) => (traffic && traffic[0] > 0 ? traffic[index] / traffic[0] : 0);
  return Object.entries(now.customers)
    .map(([customer, traffic]) => {
      const usual = Math.max(shareOf(before.customers[customer]), shareOf(others.customers[customer]));
      return { customer, isWorse: shareOf(traffic) > usual + rise, additional: traffic[index] - usual * traffic[0] };
    })
    .filter(({ isWorse }) => isWorse)
    .toSorted((a, b) => b.additional - a.additional)
    .map(({ customer }) => customer);
}

const leaveOut = ({ now, before, others }: Compared, customers: string[]): Compared => ({
  now: withoutCustomers(now, customers),
  before: withoutCustomers(before, customers),
  others: withoutCustomers(others, customers),
});

/** A visitor whose packets are dropped sends no request. Packets beyond the missing requests are no visitor's. */
function withoutStrayPackets(now: Counts, before: Counts): Counts {
  const usual = before.samples > 0 ? before.traffic[0] / before.samples : 0;
  const missing = Math.max(0, Math.round(usual * now.samples) - now.traffic[0]);
  return { ...now, dropped: Math.min(now.dropped, missing) };
}

/** The limit of a node's p99 latency. Null: nothing to compare with. Nodes count slower requests as slow. */
export function latencyLimit({ baseline }: NodeRecord, without: NodeRecord[], { latencyFactor }: RolloutGates) {
  const before = baseline?.p99Ms ?? null;
  const others = median(without.flatMap((node) => p99Of(node) ?? []));
  if (before === null && others === null) return null;
  const usual = Math.max(before ?? 0, others ?? 0);
  return { before, others, limit: Math.max(usual * latencyFactor, usual + MIN_INCREASE_MS) };
}

const p99Of = ({ metrics }: NodeRecord) => median(metrics?.p99s ?? []);

/** p99 is above its limit when more than 1 % of requests are slow. */
function latencyGate(input: GateInput, measured: Measured): RolloutGate {
  const gate = shareGate({ name: 'latency', index: 3, rise: 0.01, minBad: 3 }, input, measured);
  const node = input.updated.find(({ nodeId }) => nodeId === gate.nodeID);
  const value = node ? p99Of(node) : null;
  const limit = node ? latencyLimit(node, input.others, input.gates) : null;
  if (value === null || limit === null) return gateState('latency', 'notJudged', { requests: gate.requests });
  return value > limit.limit
    ? { ...gate, ...limit, value }
    : gateState('latency', 'passed', { ...limit, value, requests: gate.requests });
}

function namesOf(nodes: NodeRecord[]): Pick<RolloutGate, 'nodeID' | 'nodeName'> {
  const names = nodes.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = nodes.length > names.length ? ` +${nodes.length - names.length}` : '';
  return { nodeID: nodes[0]?.nodeId ?? null, nodeName: names.length > 0 ? names.join(', ') + more : null };
}

export const gateState = (
  gate: RolloutGateName,
  state: RolloutGate['state'],
  more: Partial<RolloutGate> = {},
): RolloutGate => ({
  gate,
  state,
  nodeID: null,
  nodeName: null,
  value: null,
  limit: null,
  before: null,
  others: null,
  requests: null,
  customers: null,
  message: null,
  messageCode: null,
  ...more,
});
