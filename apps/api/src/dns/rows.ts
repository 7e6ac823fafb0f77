// Providers that keep a row for each value of a name: from what is there to what is wanted, never without a value meanwhile.
import type { DnsRecords } from './provider.ts';

export interface Row extends Omit<DnsRecords, 'values'> {
  id: string;
  value: string;
}
interface Change {
  create: (value: string) => Promise<unknown>;
  update: (id: string, value: string) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
}

export async function replaceRows(
  there: Pick<Row, 'id' | 'value' | 'ttlSeconds'>[],
  { values, ttlSeconds }: Pick<DnsRecords, 'values' | 'ttlSeconds'>,
  { create, update, remove }: Change,
): Promise<void> {
  const kept = new Map(there.map((row) => [row.value, row]));
  const stale = there.filter((row) => !values.includes(row.value) || kept.get(row.value) !== row);
  for (const value of values) {
    const row = kept.get(value);
    // A row that goes becomes one that comes: beside an alias no other may stand.
    const freed = row ? undefined : stale.shift();
    if (freed) await update(freed.id, value);
    else if (!row) await create(value);
    else if (row.ttlSeconds !== ttlSeconds) await update(row.id, value);
  }
  for (const { id } of stale) await remove(id);
}

/** Rows as sets: one for each name, type and line. */
export function inSets(rows: Row[]): DnsRecords[] {
  const groups = Map.groupBy(rows, ({ name, type, line = '' }) => `${type} ${name} ${line}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const { name, type, line, ttlSeconds } = first;
    const values = same.map(({ value }) => value);
    return [{ name, type, values, ttlSeconds, ...(line !== undefined && { line }) }];
  });
}
