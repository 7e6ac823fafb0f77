// Reads the audit. Its rows are written by http/audit.ts and the database, never here.
import {
  AUDIT_COUNTED,
  type AuditChange,
  type AuditDetail,
  type AuditQuery,
  type AuditRow,
} from '@edgeloom/contract/audit/audit.ts';
import { Id } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { andAll, contains, sql, type Sql } from '../../core/sql.ts';

const columns = sql`a.req_id AS id, a.req_id AS "reqID", a.at AS time, a.account_id AS "accountID", a.account_name AS "accountName",
  a.email, a.proxy_name AS "proxyName", a.method, a.path AS url, a.status, a.address,
  (SELECT coalesce(sum((c->>'count')::int), 0)::int FROM jsonb_array_elements(a.changes) c) AS "changeCount"`;

/** Of what matches, the newest are found once, for the page and for its number; nobody turns more pages than that. */
export async function search({ db }: Ctx, { page, pageSize, ...filters }: AuditQuery) {
  const wish = conditionsOf(filters);
  const rows = await db.$read<AuditRow & { total: number }>(
    ({ audit }) => sql`WITH found AS MATERIALIZED (
        SELECT a.at, a.req_id FROM audit_rows a WHERE ${audit}${wish} ORDER BY a.at DESC, a.req_id DESC LIMIT ${AUDIT_COUNTED}
      )
      SELECT counted.total, ${columns} FROM (SELECT count(*)::int AS total FROM found) counted
      LEFT JOIN (SELECT req_id FROM found ORDER BY at DESC, req_id DESC LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}) shown ON TRUE
      LEFT JOIN audit_rows a ON a.req_id = shown.req_id ORDER BY a.at DESC, a.req_id DESC`,
  );
  // A page without rows is one without an id.
  return { data: rows.filter(({ id }) => id !== null), total: rows[0]?.total ?? 0 };
}

export async function get({ db }: Ctx, reqID: string): Promise<AuditDetail> {
  const [row] = await db.$read<AuditDetail>(
    ({ audit }) => sql`SELECT ${columns}, a.changes FROM audit_rows a WHERE ${audit} AND a.req_id = ${reqID}`,
  );
  return row ? { ...row, changes: row.changes.map(named) } : fail('NOT_FOUND');
}

function conditionsOf(wish: Omit<AuditQuery, 'page' | 'pageSize'>): Sql {
  const { accountName, proxyName, startTime, endTime, method, reqID, url } = wish;
  return andAll([
    accountName && sql`(${contains(sql`a.account_name`, accountName)} OR ${contains(sql`a.email`, accountName)})`,
    proxyName && contains(sql`a.proxy_name`, proxyName),
    startTime && sql`a.at >= ${startTime}`,
    endTime && sql`a.at <= ${endTime}`,
    method && sql`a.method = ${method}`,
    reqID && (Id.safeParse(reqID).success ? sql`a.req_id = ${reqID}` : sql`FALSE`),
    url && contains(sql`a.path`, url),
  ]);
}

/** Columns as the API calls its fields. */
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
