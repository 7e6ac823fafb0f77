// Plain SQL for the reads that are asked most, where Prisma costs several times the query. It still carries the scope:
// `ctx.db.$read` takes no statement without a condition from `visible`, which says in SQL what owners.ts says in Prisma's
// words (a test asks both the same and compares).
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { whoever } from './call.ts';
import type { Actor } from './ctx.ts';

type Value = string | number | boolean | Date | null | readonly string[];

/** A piece of a statement: text and values never mix, whatever is put together. */
export interface Sql {
  readonly texts: readonly string[];
  readonly values: readonly Value[];
  readonly isScoped: boolean;
}

export function sql(strings: TemplateStringsArray, ...parts: readonly (Value | Sql)[]): Sql {
  const texts = [strings[0] ?? ''];
  const values: Value[] = [];
  const append = (text: string) => texts.push((texts.pop() ?? '') + text);
  let isScoped = false;
  for (const [i, part] of parts.entries()) {
    if (isSql(part)) {
      isScoped ||= part.isScoped;
      append(part.texts[0] ?? '');
      for (const [j, value] of part.values.entries()) {
        values.push(value);
        texts.push(part.texts[j + 1] ?? '');
      }
    } else {
      values.push(part);
      texts.push('');
    }
    append(strings[i + 1] ?? '');
  }
  return { texts, values, isScoped };
}

export const nothing = sql``;
/** ` AND …` for each condition there is. */
export const andAll = (conditions: readonly (Sql | false | null | undefined | '')[]): Sql => {
  let all = nothing;
  for (const condition of conditions) if (condition) all = sql`${all} AND ${condition}`;
  return all;
};

/** What the actor sees, as conditions on tables by the aliases that queries use for them. */
export interface Visible {
  /** On `sites s`. */
  readonly site: Sql;
  /** On `zones z`. */
  readonly zone: Sql;
  /** On `accounts a`. */
  readonly account: Sql;
  /** On `audit_rows a`. */
  readonly audit: Sql;
}

function visibleTo({ kind, isRoot, clientId, rootId, id }: Actor): Visible {
  const nobody = sql`FALSE`;
  const zone =
    kind !== 'client'
      ? nobody
      : isRoot
        ? sql`z.client_id = ${clientId}`
        : sql`z.client_id = ${clientId} AND EXISTS (SELECT 1 FROM zone_assignments a WHERE a.zone_id = z.id AND a.account_id = ${id})`;
  const site =
    kind === 'client'
      ? isRoot
        ? sql`s.client_id = ${clientId}`
        : sql`s.client_id = ${clientId} AND EXISTS (SELECT 1 FROM zone_assignments a WHERE a.zone_id = s.zone_id AND a.account_id = ${id})`
      : kind === 'user'
        ? isRoot
          ? sql`s.client_id = ${clientId} AND s.owner_id = ${id}`
          : sql`s.client_id = ${clientId} AND EXISTS (SELECT 1 FROM site_assignments a WHERE a.site_id = s.id AND a.account_id = ${id})`
        : nobody;
  const account =
    kind === 'admin'
      ? sql`TRUE`
      : kind === 'client'
        ? sql`a.client_id = ${clientId}`
        : sql`a.client_id = ${clientId} AND (a.id = ${rootId} OR a.parent_id = ${rootId})`;
  // An operator reads what its customers did as well; a customer what it and its sub-accounts did.
  const audit =
    kind === 'admin' ? sql`TRUE` : kind === 'client' ? sql`a.client_id = ${clientId}` : sql`a.root_id = ${rootId}`;
  const scoped = (condition: Sql): Sql => ({ ...sql`(${condition})`, isScoped: true });
  return { site: scoped(site), zone: scoped(zone), account: scoped(account), audit: scoped(audit) };
}

export type Read = <Row extends pg.QueryResultRow>(build: (visible: Visible) => Sql) => Promise<Row[]>;

export const reading =
  (pool: pg.Pool) =>
  (actor: Actor): Read =>
  async <Row extends pg.QueryResultRow>(build: (visible: Visible) => Sql) => {
    const { texts, values, isScoped } = build(visibleTo(actor));
    if (!isScoped) throw new Error('a statement without scope');
    const text = texts.reduce((all, part, i) => `${all}$${i}${part}`);
    const { rows } = await whoever(() => pool.query<Row>({ ...named(text), text, values: [...values] }));
    return rows;
  };

/** A prepared statement lives as long as its connection, so only so many shapes of filters get one. */
const PREPARED_AT_MOST = 200;
const names = new Map<string, string>();

function named(text: string): { name?: string } {
  const known = names.get(text);
  if (known !== undefined) return { name: known };
  // A pattern is planned for what it is: one plan for all would be right for those that match everything or nothing.
  if (/ I?LIKE /.test(text)) return {};
  if (names.size >= PREPARED_AT_MOST) return {};
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 32);
  names.set(text, name);
  return { name };
}

const isSql = (part: Value | Sql): part is Sql => typeof part === 'object' && part !== null && 'texts' in part;

/** A part of a text in any case; a customer's % is a letter. */
export const contains = (column: Sql, text: string): Sql => sql`${column} ILIKE ${pattern(text)}`;

/** The same of what is stored in lower case, at a fraction of the cost. */
export const containsLower = (column: Sql, text: string): Sql => sql`${column} LIKE ${pattern(text.toLowerCase())}`;

const pattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

interface Page<Column extends string> {
  page: number;
  pageSize: number;
  sortBy: Column;
  orderBy: 'asc' | 'desc';
}

/** The rows of a page; the id, as the last word, keeps pages apart where many rows compare alike. */
export const pageSql = <Column extends string>(
  { page, pageSize, sortBy, orderBy }: Page<Column>,
  columns: Readonly<Record<Column, Sql>>,
  id: Sql,
): Sql => {
  const way = orderBy === 'desc' ? sql`DESC` : sql`ASC`;
  const offset = (page - 1) * pageSize;
  // The length as text: with a parameter PostgreSQL would take a plan for any length for too dear, and plan each call anew.
  const rows = sql`ORDER BY ${columns[sortBy]} ${way}, ${id} ${way} LIMIT ${integer(pageSize)}`;
  return offset === 0 ? rows : sql`${rows} OFFSET ${offset}`;
};

function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`);
  return { texts: [String(value)], values: [], isScoped: false };
}
