import * as z from 'zod';

/** A UUID. Our own ids are version 7, so that they sort by age. */
export const Id = z.uuid();
export const isId = (text: string): boolean => Id.safeParse(text).success;
/** Refuses control characters, line breaks, and bidirectional controls, which make one name look like another. */
const oneLine = /^[^\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*$/u;
const oneLineMessage = 'one line without bidirectional controls';
export const Text = z.string().trim().min(1).max(256).regex(oneLine, oneLineMessage);
export const Memo = z.string().trim().max(256).regex(oneLine, oneLineMessage);
export const Tags = z.array(z.string().trim().min(1).max(64).regex(oneLine, oneLineMessage)).max(20);
/** Tags that are used by some row. `total` counts all matches. */
export const TagsInUse = z.object({ data: z.array(z.string()), total: z.int() });
/** A `Date` in the server, ISO 8601 text on the wire. Text that is no time aborts: later checks expect a `Date`. */
export const Time = z.codec(z.iso.datetime({ abort: true }), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
export const Ids = z.object({ ids: z.array(Id).min(1).max(1000) });
export const Enabling = Ids.extend({ enabled: z.boolean() });
export const Port = z.int().min(1).max(65_535);

/** Query of a page of a list. `sortBy` is one of the list's sortable columns. */
export const paging = <const Column extends string>(columns: [Column, ...Column[]], size = 25) =>
  z.object({
    page: z.int().min(1).default(1),
    pageSize: z.int().min(1).max(500).default(size),
    sortBy: z.enum(columns).default(columns[0]),
    orderBy: z.enum(['asc', 'desc']).default('asc'),
  });
export type Paging<Column extends string = string> = {
  page: number;
  pageSize: number;
  sortBy: Column;
  orderBy: 'asc' | 'desc';
};

export const paged = <Row extends z.ZodType>(row: Row) => z.object({ data: z.array(row), total: z.int() });

/** Search by name, for the options of a field. */
export const NameSearch = z.object({
  keyword: z.string().max(256).optional().describe('Part of the name'),
  page: z.int().min(1).default(1),
  pageSize: z.int().min(1).max(1000).default(1000),
});
export type NameSearch = z.output<typeof NameSearch>;
/** Search by name, or lookup of the names of known ids. */
export const MetaQuery = NameSearch.extend({ ids: z.array(Id).min(1).max(1000).optional() });
export type MetaQuery = z.output<typeof MetaQuery>;
const NamedRow = z.object({ id: Id, name: z.string() });
export const Named = z.object({ data: z.array(NamedRow) });
export const Meta = paged(NamedRow);
