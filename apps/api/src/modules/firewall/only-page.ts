import type { Paging } from '@edgeloom/contract/common/common.ts';

interface Dated {
  createdAt: Date;
  updatedAt: Date;
}

/** A page of rows that were read whole. */
export function onlyPage<Row extends Dated>(
  rows: readonly Row[],
  { page, pageSize, sortBy, orderBy }: Paging<keyof Dated>,
): { data: Row[]; total: number } {
  const sign = orderBy === 'asc' ? 1 : -1;
  const sorted = rows.toSorted((a, b) => sign * (a[sortBy].getTime() - b[sortBy].getTime()));
  return { data: sorted.slice((page - 1) * pageSize, page * pageSize), total: rows.length };
}
