import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';

type Steps = Received<typeof statistics.qps>;

const SIX_HOURS_MS = 6 * 3_600_000;
/** An hour: nodes that were away send their lines late. */
const LATE_STEPS = 12;

/** Where the next read begins. Undefined: it reads all six hours. */
export function startOfNewSteps({ times }: Steps, ageMs: number): string | undefined {
  return ageMs < SIX_HOURS_MS ? times.at(-1 - LATE_STEPS) : undefined;
}

/** Steps with those of a later response in place of the same ones, moved on so that their number stays. */
export function withNewSteps(steps: Steps, added: Steps): Steps {
  const [first] = added.times;
  if (first === undefined) return steps;
  const before = steps.times.filter((at) => Date.parse(at) < Date.parse(first)).length;
  const count = steps.times.length;
  return {
    stepSeconds: steps.stepSeconds,
    times: [...steps.times.slice(0, before), ...added.times].slice(-count),
    values: [...steps.values.slice(0, before), ...added.values].slice(-count),
  };
}
