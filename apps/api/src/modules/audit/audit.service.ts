// Reads the audit log. Rows are written by http/audit.ts and by database triggers.
import { groups } from '@edgeloom/contract/all.ts';
import {
  AUDIT_COUNTED,
  type AuditCall,
  type AuditChange,
  type AuditDetail,
  type AuditDetailQuery,
  type AuditEntry,
  type AuditQuery,
} from '@edgeloom/contract/audit/audit.ts';
import { operationsOf } from '@edgeloom/contract/audit/operations.ts';
import { isId } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { findNamedObjects } from '../../core/named-objects.ts';
import { andAll, contains, sql, type Sql } from '../../core/sql.ts';
import { describeAction, idsOf, readAction, type StoredAction } from './describe-action.ts';

const operations = operationsOf(groups);

const ITEMS_IN_LIST = 3;
const ITEMS_IN_DETAIL = 100;
const CALLS_IN_DETAIL = 100;
const ROWS_PER_CHANGE = 100;
/** Limits the cost of a row whose Action-Id is used again and again. */
const MAX_CALLS_COUNTED = 1000;

/** How calls form the rows of the list. */
interface Grouping {
  /** The id that the calls of a row have in common. */
  key: Sql;
  /** Whether the call `a` belongs to the row `listed`. */
  belongs: Sql;
}
const byAction: Grouping = {
  key: sql`coalesce(a.action_id, a.req_id)`,
  belongs: sql`(a.req_id = listed.key OR a.action_id = listed.key)`,
};
const byCall: Grouping = { key: sql`a.req_id`, belongs: sql`a.req_id = listed.key` };

/** One row for each of `listed (key, at)`. The alias `a` is the call that represents all calls of the row. */
const actionsOf = (
  { belongs }: Grouping,
  audit: Sql,
) => sql`SELECT listed.key, a.req_id AS id, a.req_id AS "reqID", coalesce(listed.at, whole.at) AS time,
    a.account_id AS "accountID", a.account_name AS "accountName", a.email, a.proxy_name AS "proxyName", a.method, a.path AS url,
    a.status, a.address, a.context, a.context->'targets' AS stored,
    whole."callCount", whole."failedCount", whole."changeCount",
    CASE WHEN whole."callCount" = 1 THEN (a.context->>'count')::int ELSE whole."doneObjects" END AS "objectCount"
  FROM listed
  CROSS JOIN LATERAL (SELECT a.* FROM (SELECT a.* FROM audit_rows a WHERE ${belongs} AND ${audit} LIMIT ${MAX_CALLS_COUNTED}) a
    ORDER BY a.status BETWEEN 1 AND 399 DESC, a.at, a.seq LIMIT 1) a
  CROSS JOIN LATERAL (SELECT count(*)::int AS "callCount", max(calls.at) AS at,
      (count(*) FILTER (WHERE NOT calls.is_done))::int AS "failedCount",
      (sum(calls.objects) FILTER (WHERE calls.is_done))::int AS "doneObjects",
      coalesce(sum(calls.changes), 0)::int AS "changeCount"
    FROM (SELECT a.at, a.status BETWEEN 1 AND 399 AS is_done, (a.context->>'count')::int AS objects,
        (SELECT sum((c->>'count')::int) FROM jsonb_array_elements(a.changes) c) AS changes
      FROM audit_rows a WHERE ${belongs} AND ${audit} LIMIT ${MAX_CALLS_COUNTED}) calls) whole`;

/** Reads up to the newest 10,000 matching calls once, for both the page and the total. */
export async function search(ctx: Ctx, { page, pageSize, ...filters }: AuditQuery) {
  const grouping = listsCalls(filters) ? byCall : byAction;
  const rows = await ctx.db.$read<StoredAction & { key: string; total: number }>(
    ({ audit }) => sql`WITH found AS MATERIALIZED (
        SELECT a.at, ${grouping.key} AS key FROM audit_rows a WHERE ${audit}${conditionsOf(filters)}
        ORDER BY a.at DESC, a.req_id DESC LIMIT ${AUDIT_COUNTED}
      ), grouped AS MATERIALIZED (
        SELECT key, max(at) AS at FROM found GROUP BY key
      ), listed AS (
        SELECT key, at FROM grouped ORDER BY at DESC, key DESC LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}
      )
      SELECT counted.total, page.* FROM (SELECT count(*)::int AS total FROM grouped) counted
      LEFT JOIN (${actionsOf(grouping, audit)}) page ON TRUE ORDER BY page.time DESC, page.key DESC`,
  );
  const [first] = rows;
  if (!first) return { data: [], total: 0 };
  // A page without rows is one row with a null id.
  const actions = rows.filter(({ id }) => id !== null);
  return { data: await describeAll(ctx, actions, ITEMS_IN_LIST), total: first.total };
}

/** The action that the call belongs to, or the call alone. */
export async function get(ctx: Ctx, reqID: string, { detail }: AuditDetailQuery): Promise<AuditDetail> {
  const grouping = detail === 'calls' ? byCall : byAction;
  const [found] = await ctx.db.$read<{ key: string }>(
    ({ audit }) => sql`SELECT ${grouping.key} AS key FROM audit_rows a WHERE ${audit} AND a.req_id = ${reqID}`,
  );
  if (!found) return fail('NOT_FOUND');
  const listed = sql`(SELECT ${found.key}::uuid AS key, NULL::timestamptz AS at)`;
  const [actions, calls, changes] = await Promise.all([
    ctx.db.$read<StoredAction & { key: string }>(
      ({ audit }) => sql`WITH listed AS ${listed} ${actionsOf(grouping, audit)}`,
    ),
    ctx.db.$read<AuditCall>(
      ({ audit }) => sql`SELECT a.req_id AS "reqID", a.at AS time, a.status, (a.context->>'code')::int AS code,
          (SELECT coalesce(sum((c->>'count')::int), 0)::int FROM jsonb_array_elements(a.changes) c) AS "changeCount"
        FROM ${listed} listed JOIN audit_rows a ON ${grouping.belongs} AND ${audit}
        ORDER BY a.at, a.seq LIMIT ${CALLS_IN_DETAIL}`,
    ),
    ctx.db.$read<Omit<AuditChange, 'rows'> & { rows: AuditChange['rows'][] }>(
      ({
        audit,
      }) => sql`SELECT c.value->>'entity' AS entity, c.value->>'action' AS action, sum((c.value->>'count')::int)::int AS count,
          (array_agg(c.value->'rows' ORDER BY a.at, a.seq, c.place))[1:${ROWS_PER_CHANGE}::int] AS rows
        FROM (SELECT a.at, a.seq, a.changes FROM ${listed} listed JOIN audit_rows a ON ${grouping.belongs} AND ${audit}
          ORDER BY a.at, a.seq LIMIT ${MAX_CALLS_COUNTED}) a
        CROSS JOIN jsonb_array_elements(a.changes) WITH ORDINALITY c (value, place)
        GROUP BY 1, 2 ORDER BY min(a.at), min(c.place)`,
    ),
  ]);
  const [entry] = await describeAll(ctx, actions, ITEMS_IN_DETAIL);
  if (!entry) return fail('NOT_FOUND');
  const shown = changes.map((change) => inApiNames({ ...change, rows: change.rows.flat().slice(0, ROWS_PER_CHANGE) }));
  const named = await findNamedObjects(ctx, idsIn(shown));
  return { ...entry, calls, changes: shown, names: Object.fromEntries(named.map(({ id, name }) => [id, name])) };
}

/** The ids among keys and values of changed rows. */
const idsIn = (changes: readonly AuditChange[]): string[] => {
  const values = changes
    .flatMap(({ rows }) => rows)
    .flatMap(({ key, before, after }) =>
      [key, before ?? {}, after ?? {}].flatMap((content) => Object.values(content).flat()),
    );
  return [...new Set(values.filter((value): value is string => typeof value === 'string' && isId(value)))];
};

/** One query for all rows finds which of their objects still exist for the reader. */
async function describeAll(ctx: Ctx, actions: readonly StoredAction[], maxItems: number): Promise<AuditEntry[]> {
  const read = actions.map((action) => readAction(action, operations.find(action.method, action.url), maxItems));
  const present = await findNamedObjects(ctx, [...new Set(read.flatMap(idsOf))]);
  const presentNames = new Map(present.map(({ id, name }) => [id, name]));
  return read.map((action) => describeAction(action, presentNames));
}

type Filters = Omit<AuditQuery, 'page' | 'pageSize'>;

/** A search for a request ID looks for one call. */
const listsCalls = ({ detail, reqID }: Filters) => detail === 'calls' || Boolean(reqID);

function conditionsOf(filters: Filters): Sql {
  const { keyword, accountName, proxyName, startTime, endTime, method, outcome, reqID, url } = filters;
  const ofAccount = (text: string) => sql`(${contains(sql`a.account_name`, text)} OR ${contains(sql`a.email`, text)})`;
  return andAll([
    keyword &&
      sql`(${ofAccount(keyword)} OR ${contains(sql`a.proxy_name`, keyword)} OR EXISTS (
        SELECT FROM jsonb_array_elements_text(coalesce(a.context->'names', '[]')) AS n (name) WHERE ${contains(sql`n.name`, keyword)}) OR EXISTS (
        SELECT FROM jsonb_to_recordset(a.context->'targets') AS t (name text) WHERE ${contains(sql`t.name`, keyword)}))`,
    accountName && ofAccount(accountName),
    proxyName && contains(sql`a.proxy_name`, proxyName),
    startTime && sql`a.at >= ${startTime}`,
    endTime && sql`a.at <= ${endTime}`,
    method && sql`a.method = ${method}`,
    outcome === 'failed' && sql`a.status >= 400`,
    outcome === 'done' && sql`a.status < 400`,
    reqID && (isId(reqID) ? sql`a.req_id = ${reqID}` : sql`FALSE`),
    url && contains(sql`a.path`, url),
    !listsCalls(filters) && sql`(a.status >= 400 OR (a.method || ' ' || a.path) !~ ${operations.stepPattern})`,
  ]);
}

/** Names columns as the API names its fields. */
const inApiNames = ({ entity, rows, ...change }: AuditChange): AuditChange => ({
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
