import type { Paging } from '@edgeloom/contract/common/common.ts';

/** Paging options. The id comes last, so that pages are stable for equal rows. */
export const pageOf = <Column extends string>({ page, pageSize, sortBy, orderBy }: Paging<Column>) => ({
  orderBy: [{ [sortBy]: orderBy }, { id: orderBy }],
  skip: (page - 1) * pageSize,
  take: pageSize,
});

/** Case-insensitive substring. */
export const containing = (text: string) => ({ contains: escapeLike(text), mode: 'insensitive' as const });

/** Prefix of lower-case text. */
export const beginning = (text: string) => ({ startsWith: escapeLike(text.toLowerCase()) });

/** Prisma does not escape % and _ in 'contains'. */
const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&');
