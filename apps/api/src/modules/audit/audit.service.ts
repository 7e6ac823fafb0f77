// Reads the audit log. Rows are written by http/audit.ts and by database triggers.
import { groups } from '@edgeloom/contract/all.ts';
import {
  AUDIT_COUNTED,
  type AuditChange,
  type AuditDetail,
  type AuditQuery,
  type AuditRow,
} from '@edgeloom/contract/audit/audit.ts';
import { operationsOf } from '@edgeloom/contract/audit/operations.ts';
import { Id } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { findNamedObjects } from '../../core/named-objects.ts';
import { andAll, contains, sql, type Sql } from '../../core/sql.ts';
import { describe, shownIds, type StoredRow } from './describe-call.ts';

const operations = operationsOf(groups);

/** Rows of older releases have no context; their objects are named from what they changed. */
const targets = sql`coalesce(a.context->'targets', audit_targets('[]', a.changes))`;
const columns = sql`a.req_id AS id, a.req_id AS "reqID", a.at AS time, a.account_id AS "accountID", a.account_name AS "accountName",
  a.email, a.proxy_name AS "proxyName", a.method, a.path AS url, a.status, a.address, a.context, ${targets} AS stored,
  (SELECT coalesce(jsonb_agg(c - 'rows'), '[]') FROM jsonb_array_elements(a.changes) c) AS tally`;

/** Reads up to the newest 10,000 matches once, for both the page and the total. */
export async function search(ctx: Ctx, { page, pageSize, ...filters }: AuditQuery) {
  const wish = conditionsOf(filters);
  const rows = await ctx.db.$read<StoredRow & { total: number }>(
    ({ audit }) => sql`WITH found AS MATERIALIZED (
        SELECT a.at, a.req_id FROM audit_rows a WHERE ${audit}${wish} ORDER BY a.at DESC, a.req_id DESC LIMIT ${AUDIT_COUNTED}
      )
      SELECT counted.total, ${columns} FROM (SELECT count(*)::int AS total FROM found) counted
      LEFT JOIN (SELECT req_id FROM found ORDER BY at DESC, req_id DESC LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}) shown ON TRUE
      LEFT JOIN audit_rows a ON a.req_id = shown.req_id ORDER BY a.at DESC, a.req_id DESC`,
  );
  // A page without rows is one row with a null id.
  return {
    data: await described(
      ctx,
      rows.filter(({ id }) => id !== null),
    ),
    total: rows[0]?.total ?? 0,
  };
}

export async function get(ctx: Ctx, reqID: string): Promise<AuditDetail> {
  const [row] = await ctx.db.$read<StoredRow & { changes: AuditChange[] }>(
    ({ audit }) => sql`SELECT ${columns}, a.changes FROM audit_rows a WHERE ${audit} AND a.req_id = ${reqID}`,
  );
  if (!row) return fail('NOT_FOUND');
  const [shown] = await described(ctx, [row]);
  return shown ? { ...shown, changes: row.changes.map(named) } : fail('NOT_FOUND');
}

/** One query for all rows finds which of their objects still exist for the reader. */
async function described(ctx: Ctx, rows: readonly StoredRow[]): Promise<AuditRow[]> {
  const calls = rows.map((row) => ({ row, operation: operations.find(row.method, row.url) }));
  const ids = calls.flatMap(({ row, operation }) => shownIds(row, operation));
  const found = await findNamedObjects(ctx, [...new Set(ids)]);
  const existing = new Map(found.map(({ id, name }) => [id, name]));
  return calls.map(({ row, operation }) => describe(row, operation, existing));
}

function conditionsOf(wish: Omit<AuditQuery, 'page' | 'pageSize'>): Sql {
  const { keyword, accountName, proxyName, startTime, endTime, method, outcome, reqID, url, detail } = wish;
  const ofAccount = (text: string) => sql`(${contains(sql`a.account_name`, text)} OR ${contains(sql`a.email`, text)})`;
  return andAll([
    keyword &&
      sql`(${ofAccount(keyword)} OR ${contains(sql`a.proxy_name`, keyword)} OR EXISTS (
        SELECT FROM jsonb_array_elements_text(coalesce(a.context->'names', '[]')) AS n (name) WHERE ${contains(sql`n.name`, keyword)}) OR EXISTS (
        SELECT FROM jsonb_to_recordset(${targets}) AS t (name text) WHERE ${contains(sql`t.name`, keyword)}))`,
    accountName && ofAccount(accountName),
    proxyName && contains(sql`a.proxy_name`, proxyName),
    startTime && sql`a.at >= ${startTime}`,
    endTime && sql`a.at <= ${endTime}`,
    method && sql`a.method = ${method}`,
    outcome === 'failed' && sql`a.status >= 400`,
    outcome === 'done' && sql`a.status < 400`,
    reqID && (Id.safeParse(reqID).success ? sql`a.req_id = ${reqID}` : sql`FALSE`),
    url && contains(sql`a.path`, url),
    detail === 'actions' &&
      !reqID &&
      sql`(a.status >= 400 OR (a.method || ' ' || a.path) !~ ${operations.stepPattern})`,
  ]);
}

/** Names columns as the API names its fields. */
const named = ({ entity, rows, ...change }: AuditChange): AuditChange => ({
  ...change,
  entity: camel(entity),
  rows: rows.map(({ key, before, after }) => ({
    key: renamed(key),
    ...(before && { before: renamed(before) }),
    ...(after && { after: renamed(after) }),
  })),
});
const renamed = (content: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [camel(name), value]));
const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
