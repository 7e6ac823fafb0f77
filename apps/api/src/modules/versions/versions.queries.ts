import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Version, VersionChoice, VersionSearch } from '@edgeloom/contract/versions/versions.ts';
import type * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import type { FoldedRow } from '../../core/restore-site.ts';
import { andAll, contains, pageSql, sql, type Sql } from '../../core/sql.ts';

type VersionRow = Omit<Version, 'changes'> & {
  changes: { entity: string; added: number; changed: number; removed: number; names: string[] }[];
};

export const readVersions = ({ db }: Ctx, siteId: string, paging: Paging<'version'>) =>
  db.$read<VersionRow>(
    ({
      site,
    }) => sql`SELECT v.version::text AS id, v.version, v.at, v.account_name AS "accountName", v.proxy_name AS "proxyName", v.req_id AS "reqID",
        v.reason, v.restores, v.summary AS changes
      FROM site_versions v JOIN sites s ON s.id = v.site_id
      WHERE ${site} AND s.id = ${siteId} AND v.version IS NOT NULL ${pageSql(paging, { version: sql`v.version` }, sql`v.id`)}`,
  );

const searched = ({ keyword, ids }: VersionSearch) =>
  andAll([
    keyword &&
      sql`(starts_with(v.version::text, ${keyword}) OR ${contains(sql`v.account_name`, keyword)} OR ${contains(sql`v.reason`, keyword)})`,
    ids && sql`v.version::text = ANY (${ids.map(String)}::text[])`,
  ]);

export const readVersionChoices = ({ db }: Ctx, siteId: string, query: VersionSearch) =>
  db.$read<z.output<typeof VersionChoice>>(
    ({ site }) => sql`SELECT v.version::text AS id, v.account_name AS name, v.at
      FROM site_versions v JOIN sites s ON s.id = v.site_id
      WHERE ${site} AND s.id = ${siteId} AND v.version IS NOT NULL${searched(query)}
      ORDER BY v.version::text = ${query.keyword ?? ''} DESC, v.version DESC LIMIT ${query.pageSize} OFFSET ${(query.page - 1) * query.pageSize}`,
  );

export async function countVersions({ db }: Ctx, siteId: string, query: VersionSearch): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT count(*)::int AS total FROM site_versions v JOIN sites s ON s.id = v.site_id
      WHERE ${site} AND s.id = ${siteId} AND v.version IS NOT NULL${searched(query)}`,
  );
  return row?.total ?? 0;
}

interface Bounds {
  total: number;
  oldest: number;
  current: number;
}

/** The number of versions and the range that can be restored. Null if there is no such site. */
export async function readBounds({ db }: Ctx, siteId: string): Promise<Bounds | null> {
  const [row] = await db.$read<Bounds>(
    ({
      site,
    }) => sql`SELECT count(v.id)::int AS total, coalesce(min(v.version) - 1, 0) AS oldest, coalesce(max(v.version), 0) AS current
      FROM sites s LEFT JOIN site_versions v ON v.site_id = s.id AND v.version IS NOT NULL
      WHERE ${site} AND s.id = ${siteId} GROUP BY s.id`,
  );
  return row ?? null;
}

/** Versions after `low` up to and including `high`. */
export const between = (low: number, high: number): Sql => sql`v.version > ${low} AND v.version <= ${high}`;
/** The version that this transaction creates, in a draft. */
export const present: Sql = sql`v.tx = pg_current_xact_id()::text::bigint`;

/** The combined changes of these versions, in the tables that the caller may read. */
export async function readFolded(
  { db }: Ctx,
  siteId: string,
  asked: Sql,
  { page, pageSize, entities }: { page: number; pageSize: number; entities: string[] },
) {
  const rows = await db.$read<FoldedRow & { total: number }>(
    ({ site }) => sql`WITH asked AS MATERIALIZED (
        SELECT array_agg(v.id) AS ids FROM site_versions v JOIN sites s ON s.id = v.site_id
        WHERE ${site} AND s.id = ${siteId} AND ${asked}
      ), folded AS MATERIALIZED (
        SELECT f.* FROM asked, fold_changes(asked.ids) f WHERE f.entity = ANY (${entities})
      ), shown AS (
        SELECT * FROM folded ORDER BY entity, label, row_key LIMIT ${pageSize} OFFSET ${(page - 1) * pageSize}
      )
      SELECT (SELECT count(*)::int FROM folded) AS total, f.entity, f.row_key AS "rowKey", f.label, f.before, f.after,
        coalesce((SELECT d.name FROM domains d WHERE d.id = f.parent_id), (SELECT m.name FROM modules m WHERE m.id = f.parent_id),
          (SELECT r.port || '/' || r.protocol FROM port_rules r WHERE r.id = f.parent_id),
          (SELECT c.label FROM asked, site_changes c WHERE c.version_id = ANY (asked.ids) AND c.row_key = f.parent_id::text LIMIT 1), '') AS parent
      FROM shown f ORDER BY f.entity, f.label, f.row_key`,
  );
  return { rows, total: rows[0]?.total ?? 0 };
}
