type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields of an update that were sent; those left out stay as they are. */
export function given<T extends object>(fields: T): Given<T> {
  const kept: Given<T> = { ...fields };
  for (const name in kept) if (kept[name] === undefined) delete kept[name];
  return kept;
}
