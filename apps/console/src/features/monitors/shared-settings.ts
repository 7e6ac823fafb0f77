/** Settings that are equal in all of these nodes that have some. */
export function sharedSettings(all: readonly (object | null)[]): Record<string, unknown> {
  const [first, ...others] = all.flatMap((one) =>
    one === null ? [] : [new Map<string, unknown>(Object.entries(one))],
  );
  const shared = [...(first ?? [])].filter(([key, value]) => others.every((other) => other.get(key) === value));
  return Object.fromEntries(shared);
}
