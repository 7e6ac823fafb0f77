type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that an update contains. Omitted fields stay unchanged. */
export function omitUndefined<T extends object>(fields: T): Defined<T> {
  const defined: Defined<T> = { ...fields };
  for (const name in defined) if (defined[name] === undefined) delete defined[name];
  return defined;
}
