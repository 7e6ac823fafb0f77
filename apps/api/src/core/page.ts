import type { Paging } from '@edgeloom/contract/common/common.ts';

/** The rows of a page. The id as the last word keeps pages apart where many rows compare alike. */
export const pageOf = <Column extends string>({ page, pageSize, sortBy, orderBy }: Paging<Column>) => ({
  orderBy: [{ [sortBy]: orderBy }, { id: orderBy }],
  skip: (page - 1) * pageSize,
  take: pageSize,
});

/** Any part of the text, in any case. */
export const containing = (text: string) => ({ contains: escapeLike(text), mode: 'insensitive' as const });

/** How a text in lower case begins. */
export const beginning = (text: string) => ({ startsWith: escapeLike(text.toLowerCase()) });

/** Prisma hands both to LIKE as it is, so that a customer's % would match everything. */
const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&');
