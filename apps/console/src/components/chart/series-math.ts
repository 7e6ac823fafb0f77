type Values = readonly (number | null)[];

/** Sums of each step. Null where no line has a value. */
export const sumsOf = (lines: readonly { values: Values }[], count: number): (number | null)[] =>
  Array.from({ length: count }, (_, i) =>
    lines.reduce<number | null>((sum, { values }) => {
      const value = values[i] ?? null;
      return value === null ? sum : (sum ?? 0) + value;
    }, null),
  );

/** Sum of all measured values. Null if there is none. */
export const totalOf = (values: Values) =>
  values.reduce<number | null>((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);

/** Values of an earlier period at the steps of these times. */
export function shifted(
  times: readonly string[],
  shiftMs: number,
  before: { times: readonly string[]; stepSeconds: number; values: Values },
): (number | null)[] {
  const [first] = before.times;
  if (first === undefined) return times.map(() => null);
  const start = Date.parse(first);
  return times.map((at) => {
    // Rounded, because a day may have 23 or 25 hours.
    const index = Math.round((Date.parse(at) - shiftMs - start) / (before.stepSeconds * 1000));
    return before.values[index] ?? null;
  });
}

/**
 * Requests per second of each step. The seconds of the current step that have passed follow from its bandwidth, which
 * the API has divided by them: the browser's clock may be off.
 */
export function perSecond(
  values: Values,
  { stepSeconds, traffic, bandwidth }: { stepSeconds: number; traffic: Values; bandwidth: Values },
): (number | null)[] {
  return values.map((value, i) => {
    const [bytes, bits] = [traffic[i] ?? 0, bandwidth[i] ?? 0];
    if (value === null) return null;
    return value / (bits > 0 ? (bytes * 8) / bits : stepSeconds);
  });
}
