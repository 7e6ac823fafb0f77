interface Steps {
  /** The beginning of each step, as ISO 8601 in UTC. */
  times: readonly string[];
  stepSeconds: number;
  values: readonly (number | null)[];
}

/** Steps with those of a later response in place of the same ones, moved on so that their number stays. */
export function withNewSteps(whole: Steps, added: Steps | undefined): Steps {
  const first = added?.times[0];
  if (added === undefined || first === undefined) return whole;
  const before = whole.times.filter((at) => Date.parse(at) < Date.parse(first)).length;
  const count = whole.times.length;
  return {
    stepSeconds: whole.stepSeconds,
    times: [...whole.times.slice(0, before), ...added.times].slice(-count),
    values: [...whole.values.slice(0, before), ...added.values].slice(-count),
  };
}
