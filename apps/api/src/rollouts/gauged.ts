// Metrics windows of a rollout's nodes: the baseline before the update, and samples since.
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';
import * as z from 'zod';
import { clean } from '../node-link/incoming.ts';

const Visits = z.int();
/** Per customer account: requests, 5xx, refused, slow. */
const Customers = z.record(z.string(), z.tuple([Visits, Visits, Visits, Visits]));
export type Customers = z.output<typeof Customers>;
type Visited = Customers[string];

export const Sample = z.object({
  /** Both are counters of the agent. */
  requests: z.int(),
  serverErrors: z.int(),
  /** Null: the agent does not count them. */
  refused: z.int().nullable().default(null),
  dropped: z.int().default(0),
  p99Ms: z.number().nullable(),
  nginx: z.string().nullable(),
  error: z.string().nullable(),
});
/** The state before the update. */
export const Baseline = Sample.extend({
  rejected: z.array(z.string()),
  slow: z.int().default(0),
  /** Number of samples in the counts. */
  samples: z.int().default(0),
  /** Counts requests of known sites only. */
  tells: z.boolean().default(false),
  customers: Customers.default({}),
});
export const Gauged = z.object({
  last: Sample,
  requests: z.int(),
  serverErrors: z.int(),
  refused: z.int().default(0),
  dropped: z.int().default(0),
  /** Of the newest sample. Null: no requests. */
  p99Ms: z.number().nullable(),
  p99s: z.array(z.number()),
  /** Consecutive samples with a stopped nginx or an error. One is a reload. */
  unwell: z.int(),
  /**
   * Requests, 5xx, refused and dropped between samples, newest last, so that early good samples do not hide later
   * errors.
   */
  steps: z.array(z.tuple([z.int(), z.int()], z.int())),
  /** For the last samples, the customers with the worst figures. */
  customers: z.array(Customers).default([]),
  /** The agent reports customers and slow requests. */
  tells: z.boolean().default(false),
});
export type Sample = z.output<typeof Sample>;
export type Baseline = z.output<typeof Baseline>;
export type Gauged = z.output<typeof Gauged>;

/** Half a minute. */
const WINDOW = 15;
/** How far back to look for enough requests. */
const MOST_STEPS = 60;
/** Customers kept per sample: more than are ever left out. */
const MOST_CUSTOMERS = 6;

/** A node's metrics: its state, and the increase since the last sample if customers are reported. */
export interface Answered {
  sample: Sample;
  since: Tally | null;
}
/**
 * Agents that do not report customers also count requests of unknown hosts. Replacing such an agent would change the
 * base of every share.
 */
export const likeBefore = (answer: Answered, baseline: Baseline | null): Answered =>
  baseline !== null && baseline.samples > 0 && !baseline.tells ? { ...answer, since: null } : answer;

type Tally = Pick<Counts, 'requests' | 'serverErrors' | 'refused' | 'slow' | 'customers'>;

/** `ownerOf`: owners of customers' sites. The operator's own sites are held against no one. */
export const answered = (gauges: NodeGauges, ownerOf: ReadonlyMap<string, string>): Answered => ({
  sample: sampleOf(gauges),
  since: gauges.since ? { ...gauges.since, customers: byCustomer(gauges.since.sites, ownerOf) } : null,
});

type SiteRow = NonNullable<NodeGauges['since']>['sites'][number];
function byCustomer(sites: readonly SiteRow[], ownerOf: ReadonlyMap<string, string>): Customers {
  const customers = new Map<string, Visited>();
  for (const [site, ...visits] of sites) {
    const owner = ownerOf.get(site);
    if (owner !== undefined) customers.set(owner, added(customers.get(owner), visits));
  }
  const bad = ([, serverErrors, refused, slow]: Visited) => serverErrors + refused + slow;
  const worst = [...customers].toSorted(([, a], [, b]) => bad(b) - bad(a));
  return Object.fromEntries(worst.slice(0, MOST_CUSTOMERS));
}

const added = (a: Visited = [0, 0, 0, 0], b: Visited): Visited => [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];

const sampleOf = ({ requests, serverErrors, refused, dropped, p99Ms, nginx, error }: NodeGauges): Sample => ({
  requests,
  serverErrors,
  refused: refused ?? null,
  dropped: dropped ?? 0,
  p99Ms,
  nginx,
  error: error === null ? null : clean(error),
});

/** Adds a sample. The first one starts the counters. */
export function counted(before: Gauged | null, { sample, since }: Answered): Gauged {
  const isUnwell = (sample.nginx !== null && sample.nginx !== 'running') || sample.error !== null;
  const p99s = [...(before?.p99s ?? []), ...(sample.p99Ms === null ? [] : [sample.p99Ms])].slice(-WINDOW);
  const unwell = isUnwell ? (before?.unwell ?? 0) + 1 : 0;
  const p99Ms = sample.p99Ms ?? before?.p99Ms ?? null;
  const tells = since !== null;
  const { requests, serverErrors, refused, dropped } = before ?? none;
  const sums = { last: sample, requests, serverErrors, refused, dropped };
  if (!before) return { ...sums, steps: [], customers: [], tells, p99Ms, p99s, unwell };
  // With customers reported, both figures cover the same requests, even after a lost response.
  const more = {
    requests: rise(before.last.requests, sample.requests),
    serverErrors: rise(before.last.serverErrors, sample.serverErrors),
    refused: rise(before.last.refused ?? 0, sample.refused ?? 0),
    slow: 0,
    customers: {},
    ...since,
    dropped: rise(before.last.dropped, sample.dropped),
  };
  const step: Gauged['steps'][number] = [more.requests, more.serverErrors, more.refused, more.dropped, more.slow];
  return {
    last: sample,
    requests: requests + more.requests,
    serverErrors: serverErrors + more.serverErrors,
    refused: refused + more.refused,
    dropped: dropped + more.dropped,
    steps: [...before.steps, step].slice(-MOST_STEPS),
    customers: [...before.customers, more.customers].slice(-MOST_STEPS),
    tells,
    p99Ms,
    p99s,
    unwell,
  };
}

export interface Counts {
  requests: number;
  serverErrors: number;
  refused: number;
  dropped: number;
  slow: number;
  samples: number;
  customers: Customers;
}
export const none: Counts = {
  requests: 0,
  serverErrors: 0,
  refused: 0,
  dropped: 0,
  slow: 0,
  samples: 0,
  customers: {},
};
export const sumOf = (parts: readonly Counts[]): Counts => parts.reduce(add, { ...none, customers: {} });
/** Adds in place: copying thousands of customers for each part would be slow. */
function add(sum: Counts, { customers, ...figures }: Counts): Counts {
  sum.requests += figures.requests;
  sum.serverErrors += figures.serverErrors;
  sum.refused += figures.refused;
  sum.dropped += figures.dropped;
  sum.slow += figures.slow;
  sum.samples += figures.samples;
  for (const [customer, visits] of Object.entries(customers))
    sum.customers[customer] = added(sum.customers[customer], visits);
  return sum;
}
/** The counts without this customer. */
export function without(counts: Counts, customer: string): Counts {
  const { [customer]: theirs, ...customers } = counts.customers;
  return theirs ? { ...figuresWithout(counts, customer), customers } : counts;
}
/** Without copying customers, since each one is tried. */
export function figuresWithout(counts: Counts, customer: string): Counts {
  const [requests, serverErrors, refused, slow] = counts.customers[customer] ?? [0, 0, 0, 0];
  return {
    ...counts,
    requests: counts.requests - requests,
    serverErrors: counts.serverErrors - serverErrors,
    refused: counts.refused - refused,
    slow: counts.slow - slow,
  };
}
export const requestsIn = ({ requests }: Counts) => requests;
/** Including dropped packets: a dropped visitor retries, and each packet stands for a request. */
export const triesIn = ({ requests, dropped }: Counts) => requests + dropped;

/** The last half minute, or as much more as is needed for enough requests. */
export function recent(
  { steps, customers, requests, serverErrors, refused, dropped }: Gauged,
  least: number,
  measured: (counts: Counts) => number = requestsIn,
): Counts {
  const sum = sumOf([]);
  for (const [i, [more, bad, refusals = 0, drops = 0, slow = 0]] of steps.toReversed().entries()) {
    if (i >= WINDOW && measured(sum) >= least) break;
    const whose = customers.at(-1 - i) ?? {};
    const step = { requests: more, serverErrors: bad, refused: refusals, dropped: drops, slow, samples: 1 };
    add(sum, { ...step, customers: whose });
  }
  return measured(sum) >= least ? sum : { ...sum, requests, serverErrors, refused, dropped };
}

/** The baseline when a node's update starts. */
export function baselineOf(
  node: { gauges: Gauged | null; nginx: string | null; error: string | null; rejected: { key: string }[] },
  answer: Answered | null,
): Baseline {
  const { gauges, nginx, error } = node;
  return {
    ...none,
    ...(answer?.sample ?? { refused: null, p99Ms: null, nginx, error }),
    ...(gauges && gauges.steps.length > 0 && recent(gauges, 1)),
    ...(gauges && { p99Ms: median(gauges.p99s) }),
    tells: gauges?.tells ?? false,
    rejected: node.rejected.map(({ key }) => key),
  };
}

/** An upper bound of increases, so that a hostile node cannot overflow sums. */
const MOST_RISE = 1e9;
/** A restarted agent counts from zero. */
const rise = (from: number, to: number) => Math.min(to >= from ? to - from : to, MOST_RISE);

export const median = (numbers: readonly number[]): number | null =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null;
