type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that an update contains. Omitted fields stay unchanged. */
export function given<T extends object>(fields: T): Given<T> {
  const kept: Given<T> = { ...fields };
  for (const name in kept) if (kept[name] === undefined) delete kept[name];
  return kept;
}
