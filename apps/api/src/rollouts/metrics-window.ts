// Metrics of a rollout's nodes: the baseline before the update, and the metrics window of samples since.
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';
import * as z from 'zod';
import { clean } from '../node-link/incoming.ts';

/** Requests, and of these 5xx, refused and slow ones. */
const Traffic = z.tuple([z.int(), z.int(), z.int(), z.int()]);
export type Traffic = z.output<typeof Traffic>;

export const Counts = z.object({
  traffic: Traffic,
  /** Packets that the kernel dropped. */
  dropped: z.int(),
  samples: z.int(),
  /** Per customer account. Requests to the operator's own sites are in `traffic` only. */
  customers: z.record(z.string(), Traffic),
});
export type Counts = z.output<typeof Counts>;

export const Baseline = z.object({
  nginx: z.string().nullable(),
  error: z.string().nullable(),
  rejected: z.array(z.string()),
  p99Ms: z.number().nullable(),
  /** Null: the agent did not report its traffic by site. */
  counts: Counts.nullable().default(null),
});
export type Baseline = z.output<typeof Baseline>;

export const MetricsWindow = z.object({
  nginx: z.string().nullable(),
  error: z.string().nullable(),
  /** Consecutive samples with a stopped nginx or an error. A single one may be a reload. */
  unhealthySamples: z.int(),
  /** The agent's counter. */
  dropped: z.int(),
  /** Totals since the update. */
  requests: z.int(),
  serverErrors: z.int(),
  /** The newest one. Null: no requests. */
  p99Ms: z.number().nullable(),
  p99s: z.array(z.number()),
  /** One entry per sample, newest last. */
  samples: z.array(Counts),
});
export type MetricsWindow = z.output<typeof MetricsWindow>;

/** 30 seconds, so that good samples from before do not hide later errors. */
const WINDOW_SAMPLES = 15;
/** The window of a node with few requests. */
const MAX_SAMPLES = 60;
/** Customers stored per sample. More than gates ever leave out. */
const MAX_CUSTOMERS = 6;

/** Bounds what a hostile node can report, so that sums do not overflow. */
const MAX_DROPPED = 1e9;

/** A node's reply to `gauges`. */
export interface NodeMetrics extends Pick<MetricsWindow, 'nginx' | 'error' | 'dropped' | 'p99Ms'> {
  /** Since the reply before. Null: the agent does not report its traffic by site. */
  delta: Pick<Counts, 'traffic' | 'customers'> | null;
}

/** `ownerOf` has the customer of each site. The operator's own sites are not in it. */
export function readMetrics(
  { nginx, error, dropped = 0, p99Ms, since }: NodeGauges,
  ownerOf: ReadonlyMap<string, string>,
): NodeMetrics {
  const metrics = { nginx, error: error === null ? null : clean(error), dropped, p99Ms };
  if (!since) return { ...metrics, delta: null };
  const customers: Counts['customers'] = {};
  for (const [site, ...traffic] of since.sites) {
    const owner = ownerOf.get(site);
    if (owner !== undefined) addTraffic((customers[owner] ??= [0, 0, 0, 0]), traffic);
  }
  const bad = ([, serverErrors, refused, slow]: Traffic) => serverErrors + refused + slow;
  const worst = Object.entries(customers).toSorted(([, a], [, b]) => bad(b) - bad(a));
  return {
    ...metrics,
    delta: {
      traffic: [since.requests, since.serverErrors, since.refused, since.slow],
      customers: Object.fromEntries(worst.slice(0, MAX_CUSTOMERS)),
    },
  };
}

/** The first sample only starts the window: what it counts may be from before the update. */
export function addSample(window: MetricsWindow | null, { delta, ...metrics }: NodeMetrics): MetricsWindow {
  const { nginx, error, dropped, p99Ms } = metrics;
  const isUnhealthy = (nginx !== null && nginx !== 'running') || error !== null;
  // A restarted agent counts from zero.
  const increase = dropped - (window && window.dropped <= dropped ? window.dropped : 0);
  const added = window && delta ? [{ ...delta, dropped: Math.min(increase, MAX_DROPPED), samples: 1 }] : [];
  const { traffic } = sumCounts(added);
  return {
    ...metrics,
    unhealthySamples: isUnhealthy ? (window?.unhealthySamples ?? 0) + 1 : 0,
    requests: (window?.requests ?? 0) + traffic[0],
    serverErrors: (window?.serverErrors ?? 0) + traffic[1],
    p99Ms: p99Ms ?? window?.p99Ms ?? null,
    p99s: [...(window?.p99s ?? []), ...(p99Ms === null ? [] : [p99Ms])].slice(-WINDOW_SAMPLES),
    samples: [...(window?.samples ?? []), ...added].slice(-MAX_SAMPLES),
  };
}

/** Adds in place, since a fleet has thousands of customers. */
function addTraffic(sum: Traffic, traffic: Traffic, sign = 1): Traffic {
  sum[0] += sign * traffic[0];
  sum[1] += sign * traffic[1];
  sum[2] += sign * traffic[2];
  sum[3] += sign * traffic[3];
  return sum;
}

export function sumCounts(parts: readonly Counts[]): Counts {
  const sum: Counts = { traffic: [0, 0, 0, 0], dropped: 0, samples: 0, customers: {} };
  for (const { traffic, dropped, samples, customers } of parts) {
    addTraffic(sum.traffic, traffic);
    sum.dropped += dropped;
    sum.samples += samples;
    for (const [customer, theirs] of Object.entries(customers))
      addTraffic((sum.customers[customer] ??= [0, 0, 0, 0]), theirs);
  }
  return sum;
}

/** The traffic of all others. */
export function withoutCustomers({ customers, ...counts }: Counts, leftOut: readonly string[]): Counts {
  const traffic: Traffic = [...counts.traffic];
  for (const customer of leftOut) addTraffic(traffic, customers[customer] ?? [0, 0, 0, 0], -1);
  return { ...counts, traffic, customers: {} };
}

/** The last 30 seconds, or as much more as `minRequests` takes. */
export function recentCounts({ samples }: MetricsWindow, minRequests: number): Counts {
  let from = Math.max(0, samples.length - WINDOW_SAMPLES);
  let requests = samples.slice(from).reduce((sum, { traffic }) => sum + traffic[0], 0);
  while (requests < minRequests && from > 0) {
    from -= 1;
    requests += samples[from]?.traffic[0] ?? 0;
  }
  return sumCounts(samples.slice(from));
}

export const baselineOf = (
  node: { metrics: MetricsWindow | null; nginx: string | null; error: string | null; rejected: { key: string }[] },
  latest: NodeMetrics | null,
): Baseline => ({
  nginx: (latest ?? node).nginx,
  error: (latest ?? node).error,
  rejected: node.rejected.map(({ key }) => key),
  p99Ms: median(node.metrics?.p99s ?? []),
  counts: latest?.delta === null ? null : sumCounts(node.metrics ? [recentCounts(node.metrics, 1)] : []),
});

export const median = (numbers: readonly number[]): number | null =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null;
