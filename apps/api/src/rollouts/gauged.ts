// What is kept of a node's gauges while something new comes to it: how it was before, and how its visitors fared since.
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';
import * as z from 'zod';
import { clean } from '../node-link/incoming.ts';

export const Sample = z.object({
  /** Counted since the agent was first asked, both. */
  requests: z.int(),
  serverErrors: z.int(),
  /** Null: an agent that does not count them. */
  refused: z.int().nullable().default(null),
  dropped: z.int().default(0),
  p99Ms: z.number().nullable(),
  nginx: z.string().nullable(),
  error: z.string().nullable(),
});
/** As it was when its turn came. */
export const Baseline = Sample.extend({ rejected: z.array(z.string()) });
export const Gauged = z.object({
  last: Sample,
  requests: z.int(),
  serverErrors: z.int(),
  refused: z.int().default(0),
  dropped: z.int().default(0),
  /** The newest; null where nobody came. */
  p99Ms: z.number().nullable(),
  p99s: z.array(z.number()),
  /** Samples one after the other in which nginx did not run, or something was wrong: once is a reload. */
  unwell: z.int(),
  /** Requests, 5xx, refused and dropped from one sample to the next, the newest last: what begins to go wrong late is not to be
   *  hidden by what went well before. */
  steps: z.array(z.tuple([z.int(), z.int()], z.int())),
});
export type Sample = z.output<typeof Sample>;
export type Baseline = z.output<typeof Baseline>;
export type Gauged = z.output<typeof Gauged>;

/** Half a minute. */
const WINDOW = 15;
/** So far back it is looked for enough visitors to judge by. */
const MOST_STEPS = 60;

export const sampleOf = ({ requests, serverErrors, refused, dropped, p99Ms, nginx, error }: NodeGauges): Sample => ({
  requests,
  serverErrors,
  refused: refused ?? null,
  dropped: dropped ?? 0,
  p99Ms,
  nginx,
  error: error === null ? null : clean(error),
});

/** With one more sample. The first one is where counting begins. */
export function counted(before: Gauged | null, sample: Sample): Gauged {
  const isUnwell = (sample.nginx !== null && sample.nginx !== 'running') || sample.error !== null;
  const p99s = [...(before?.p99s ?? []), ...(sample.p99Ms === null ? [] : [sample.p99Ms])].slice(-WINDOW);
  const unwell = isUnwell ? (before?.unwell ?? 0) + 1 : 0;
  const p99Ms = sample.p99Ms ?? before?.p99Ms ?? null;
  if (!before) return { last: sample, ...none, steps: [], p99Ms, p99s, unwell };
  const more: Counts = {
    requests: rise(before.last.requests, sample.requests),
    serverErrors: rise(before.last.serverErrors, sample.serverErrors),
    refused: rise(before.last.refused ?? 0, sample.refused ?? 0),
    dropped: rise(before.last.dropped, sample.dropped),
  };
  const step: Gauged['steps'][number] = [more.requests, more.serverErrors, more.refused, more.dropped];
  return {
    last: sample,
    ...plus(before, more),
    steps: [...before.steps, step].slice(-MOST_STEPS),
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
}
export const none: Counts = { requests: 0, serverErrors: 0, refused: 0, dropped: 0 };
export const plus = (a: Counts, b: Counts): Counts => ({
  requests: a.requests + b.requests,
  serverErrors: a.serverErrors + b.serverErrors,
  refused: a.refused + b.refused,
  dropped: a.dropped + b.dropped,
});
export const requestsIn = ({ requests }: Counts) => requests;
/** With those who did not get so far: whoever is dropped tries again, and a packet stands for a request. */
export const triesIn = ({ requests, dropped }: Counts) => requests + dropped;

/** Of the last half minute, or of so much more that they are enough; of all there is where they never are. */
export function recent(
  { steps, requests, serverErrors, refused, dropped }: Gauged,
  least: number,
  measured: (counts: Counts) => number = requestsIn,
): Counts {
  let sum = none;
  for (const [i, [more, bad, refusals = 0, drops = 0]] of steps.toReversed().entries()) {
    if (i >= WINDOW && measured(sum) >= least) break;
    sum = plus(sum, { requests: more, serverErrors: bad, refused: refusals, dropped: drops });
  }
  return measured(sum) >= least ? sum : { requests, serverErrors, refused, dropped };
}

/** With what is known of it when its turn comes. */
export function baselineOf(
  node: { gauges: Gauged | null; nginx: string | null; error: string | null; rejected: { key: string }[] },
  sample: Sample | null,
): Baseline {
  const { gauges, nginx, error } = node;
  return {
    ...(sample ?? { ...none, refused: null, p99Ms: null, nginx, error }),
    ...(gauges && gauges.steps.length > 0 && recent(gauges, 1)),
    ...(gauges && { p99Ms: median(gauges.p99s) }),
    rejected: node.rejected.map(({ key }) => key),
  };
}

/** More than any node answers between two looks: sums of what a node makes up stay numbers that can be kept. */
const MOST_RISE = 1e9;
/** Another agent counts from nothing. */
const rise = (from: number, to: number) => Math.min(to >= from ? to - from : to, MOST_RISE);

export const median = (numbers: readonly number[]): number | null =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? null;
