// Plain SQL for frequent reads, where Prisma costs several times the query. Still scoped: `ctx.db.$read` requires a
// condition from `visible`, the SQL form of owners.ts (a test compares both).
import { createHash } from 'node:crypto';
import type { NameSearch } from '@edgeloom/contract/common/common.ts';
import pg from 'pg';
import { withoutAudit } from './request-context.ts';
import type { Actor } from './actor.ts';

type Value = string | number | boolean | Date | null | readonly string[];

/** A piece of a statement. Text and values never mix. */
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

/** With $1, $2, … for the values. */
export const textOf = ({ texts }: Sql): string => texts.reduce((all, part, i) => `${all}$${i}${part}`);

export const nothing = sql``;
/** ` AND …` for each condition. */
export const andAll = (conditions: readonly (Sql | false | null | undefined | '')[]): Sql => {
  let all = nothing;
  for (const condition of conditions) if (condition) all = sql`${all} AND ${condition}`;
  return all;
};

/** Row filters by the actor's rights, as conditions on the table aliases below. */
export interface Visible {
  /** For `sites s`. */
  readonly site: Sql;
  /** For `zones z`. */
  readonly zone: Sql;
  /** For `accounts a`. */
  readonly account: Sql;
  /** For `audit_rows a`. */
  readonly audit: Sql;
  /** For `traffic_usages u`. */
  readonly usage: Sql;
  /** For sums over all tenants, which administrators may see. For no table. */
  readonly installation: Sql;
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
  // Operators also see their customers' rows, customers their sub-accounts' rows.
  const audit =
    kind === 'admin' ? sql`TRUE` : kind === 'client' ? sql`a.client_id = ${clientId}` : sql`a.root_id = ${rootId}`;
  // Sub-accounts of a customer may not see all of its sites, so they see no bills.
  const usage =
    kind === 'client'
      ? isRoot
        ? sql`u.client_id = ${clientId}`
        : sql`u.client_id = ${clientId} AND EXISTS (SELECT 1 FROM zone_assignments a WHERE a.zone_id = u.zone_id AND a.account_id = ${id})`
      : kind === 'user' && isRoot
        ? sql`u.client_id = ${clientId} AND u.owner_id = ${id}`
        : nobody;
  const scoped = (condition: Sql): Sql => ({ ...sql`(${condition})`, isScoped: true });
  const installation = kind === 'admin' ? sql`TRUE` : nobody;
  return {
    site: scoped(site),
    zone: scoped(zone),
    account: scoped(account),
    audit: scoped(audit),
    usage: scoped(usage),
    installation: scoped(installation),
  };
}

/** PostgreSQL ends a statement that takes longer than `timeoutMs`: `isTimeout` of its error is true. */
export type Read = <Row extends pg.QueryResultRow>(
  build: (visible: Visible) => Sql,
  timeoutMs?: number,
) => Promise<Row[]>;

export const isTimeout = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '57014';

export const reading =
  (pool: pg.Pool) =>
  (actor: Actor): Read =>
  async <Row extends pg.QueryResultRow>(build: (visible: Visible) => Sql, timeoutMs?: number) => {
    const statement = build(visibleTo(actor));
    if (!statement.isScoped) throw new Error('a statement without scope');
    const text = textOf(statement);
    const values = [...statement.values];
    const query = { ...named(text), text, values };
    const { rows } = await withoutAudit(() =>
      timeoutMs === undefined ? pool.query<Row>(query) : queryInTime<Row>(pool, query, timeoutMs),
    );
    return rows;
  };

async function queryInTime<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: pg.QueryConfig,
  timeoutMs: number,
): Promise<pg.QueryResult<Row>> {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}`);
    return await client.query<Row>(query);
  } finally {
    // A read has nothing to commit. A connection that cannot end its transaction is discarded.
    await client.query('ROLLBACK').then(
      () => client.release(),
      (error: Error) => client.release(error),
    );
  }
}

/** Prepared statements live as long as their connection, so their number is limited. */
const PREPARED_AT_MOST = 200;
const names = new Map<string, string>();

function named(text: string): { name?: string } {
  const known = names.get(text);
  if (known !== undefined) return { name: known };
  // The selectivity of a pattern varies, so each one is planned separately.
  if (/ I?LIKE /.test(text)) return {};
  if (names.size >= PREPARED_AT_MOST) return {};
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 32);
  names.set(text, name);
  return { name };
}

const isSql = (part: Value | Sql): part is Sql => typeof part === 'object' && part !== null && 'texts' in part;

/** Case-insensitive substring. % is literal. */
export const contains = (column: Sql, text: string): Sql => sql`${column} ILIKE ${pattern(text)}`;

/** The same for columns in lower case, which is much cheaper. */
export const containsLower = (column: Sql, text: string): Sql => sql`${column} LIKE ${pattern(text.toLowerCase())}`;

const pattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

interface Page<Column extends string> {
  page: number;
  pageSize: number;
  sortBy: Column;
  orderBy: 'asc' | 'desc';
}

/** Paging. The id comes last, so that pages are stable for equal rows. */
export const pageSql = <Column extends string>(
  { page, pageSize, sortBy, orderBy }: Page<Column>,
  columns: Readonly<Record<Column, Sql>>,
  id: Sql,
  groups?: Sql,
): Sql => {
  const way = orderBy === 'desc' ? sql`DESC` : sql`ASC`;
  const offset = (page - 1) * pageSize;
  // A literal limit: with a parameter PostgreSQL would consider the generic plan too expensive and plan each call.
  const rows = sql`ORDER BY ${groups ? sql`${groups}, ` : nothing}${columns[sortBy]} ${way}, ${id} ${way} LIMIT ${integer(pageSize)}`;
  return offset === 0 ? rows : sql`${rows} OFFSET ${offset}`;
};

function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`);
  return { texts: [String(value)], values: [], isScoped: false };
}

/** A page of the distinct tags `t.tag`, and the number of matches. */
export async function tagsPage(
  read: Read,
  { keyword, page, pageSize }: NameSearch,
  from: (visible: Visible) => Sql,
): Promise<{ data: string[]; total: number }> {
  const found = (visible: Visible) =>
    sql`SELECT DISTINCT t.tag FROM ${from(visible)}${andAll([keyword && contains(sql`t.tag`, keyword)])}`;
  const [rows, [count]] = await Promise.all([
    read<{ tag: string }>(
      (visible) => sql`${found(visible)} ORDER BY t.tag LIMIT ${integer(pageSize)} OFFSET ${(page - 1) * pageSize}`,
    ),
    read<{ total: number }>((visible) => sql`SELECT count(*)::int AS total FROM (${found(visible)}) f`),
  ]);
  return { data: rows.map(({ tag }) => tag), total: count?.total ?? 0 };
}
