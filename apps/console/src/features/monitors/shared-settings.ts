type Settings = object | null;

/** Settings that are equal in all of these nodes. Nodes without settings share nothing. */
export function sharedSettings(all: readonly Settings[]): Record<string, unknown> {
  const [first, ...others] = all.map((one) => new Map<string, unknown>(Object.entries(one ?? {})));
  const shared = [...(first ?? [])].filter(([key, value]) => others.every((other) => other.get(key) === value));
  return Object.fromEntries(shared);
}

/** Those of these settings in which the nodes differ. */
export function differingSettings<Name extends string>(names: readonly Name[], all: readonly Settings[]): Name[] {
  const shared = sharedSettings(all);
  return all.every((one) => one === null) ? [] : names.filter((name) => !(name in shared));
}
