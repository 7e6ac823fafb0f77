type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that an update contains. Omitted fields stay unchanged. */
export function given<T extends object>(fields: T): Given<T> {
  const defined: Given<T> = { ...fields };
  for (const name in defined) if (defined[name] === undefined) delete defined[name];
  return defined;
}
