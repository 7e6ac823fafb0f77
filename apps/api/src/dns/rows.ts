// Providers with one row per value: changes rows to the wanted values without a moment of none.
import type { DnsKey, DnsRecords } from './account.ts';

export interface Row extends Omit<DnsRecords, 'values' | 'weights'> {
  id: string;
  value: string;
  weight?: number;
}
/** Undefined weight: unchanged. */
export type RowChange =
  | { create: string; weight: number | undefined }
  | { update: string; value: string; weight: number | undefined }
  | { remove: string };

/** Existing rows are updated before rows are added or removed. */
export function rowChanges(
  there: readonly Pick<Row, 'id' | 'value' | 'ttlSeconds' | 'weight'>[],
  { values, weights, ttlSeconds }: Pick<DnsRecords, 'values' | 'weights' | 'ttlSeconds'>,
): RowChange[] {
  const rowByValue = new Map(there.map((row) => [row.value, row]));
  const stale = there.filter((row) => !values.includes(row.value) || rowByValue.get(row.value) !== row);
  const changes = values.flatMap((value, at): RowChange[] => {
    const weight = weights?.[at];
    const row = rowByValue.get(value);
    if (row) return row.ttlSeconds === ttlSeconds && row.weight === weight ? [] : [{ update: row.id, value, weight }];
    // A stale row is reused, since an alias excludes other rows.
    const freed = stale.shift();
    return [freed ? { update: freed.id, value, weight } : { create: value, weight }];
  });
  return [...changes, ...stale.map(({ id }) => ({ remove: id }))];
}

/** Groups rows into sets by name, type and line. */
export function inSets(rows: readonly Row[]): DnsRecords[] {
  return [...Map.groupBy(rows, keyOf).values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const { name, type, line, ttlSeconds } = first;
    const values = same.map(({ value }) => value);
    return [
      {
        name,
        type,
        values,
        ttlSeconds,
        ...weightsIn(same.map(({ weight }) => weight)),
        ...(line !== undefined && { line }),
      },
    ];
  });
}
/** Equal weights mean no weighting. */
export const weightsIn = (weights: readonly (number | undefined)[]): Pick<DnsRecords, 'weights'> =>
  weights.every((weight) => weight === weights[0]) ? {} : { weights: weights.map((weight) => weight ?? 0) };

/** Reads existing rows: per set, or once for all following changes. */
export function rowReader<ProviderRow extends DnsKey>(
  all: (zone: string) => Promise<ProviderRow[]>,
  of: (zone: string, set: DnsKey) => Promise<ProviderRow[]>,
) {
  let ahead: { zone: string; rows: Map<string, ProviderRow[]>; taken: Set<string> } | null = null;
  return {
    async readAhead(zone: string) {
      ahead = { zone, rows: Map.groupBy(await all(zone), keyOf), taken: new Set() };
    },
    /** Takes the rows of a set that is about to change. The next call reads again. */
    take(zone: string, set: DnsKey): Promise<ProviderRow[]> | ProviderRow[] {
      const key = keyOf(set);
      if (ahead?.zone !== zone || ahead.taken.has(key)) return of(zone, set);
      ahead.taken.add(key);
      return ahead.rows.get(key) ?? [];
    },
  };
}
const keyOf = ({ type, name, line = '' }: DnsKey) => `${type} ${name} ${line}`;
