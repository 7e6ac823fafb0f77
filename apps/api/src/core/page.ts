import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';

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

interface NamedRows<Where> {
  findMany(
    args: { where: Where; select: typeof idAndName } & ReturnType<typeof pageOf>,
  ): PromiseLike<{ id: string; name: string }[]>;
  count(args: { where: Where }): PromiseLike<number>;
}
const idAndName = { id: true, name: true } as const;

/** The condition of a meta call. */
export const namedBy = ({ keyword, ids }: Pick<MetaQuery, 'keyword' | 'ids'>) => ({
  ...(keyword && { name: containing(keyword) }),
  ...(ids && { id: { in: ids } }),
});

/** Response of a meta call: a page of ids and names, and the number of matches. */
export async function choicesOf<Where>(rows: NamedRows<Where>, where: Where, { page, pageSize }: MetaQuery) {
  const paging = pageOf({ page, pageSize, sortBy: 'name', orderBy: 'asc' });
  const [data, total] = await Promise.all([
    rows.findMany({ where, select: idAndName, ...paging }),
    rows.count({ where }),
  ]);
  return { data, total };
}
