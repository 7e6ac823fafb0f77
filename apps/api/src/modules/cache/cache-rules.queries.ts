// Queries for cache rules: a page, and the total.
import type { CacheRule } from '@edgeloom/contract/cache/cache.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { pageSql, sql } from '../../core/sql.ts';

const columns = sql`r.id, r.type, r.value, r.cache_time AS "cacheTime", r.honour_origin AS "honourOrigin", r.query,
  r.query_names AS "queryNames", r.min_time AS "minTime", r.max_time AS "maxTime", r.browser_time AS "browserTime",
  r.stale_while_revalidate AS "staleWhileRevalidate", r.stale_if_error AS "staleIfError", r.cookies,
  r.cookie_names AS "cookieNames", r.pass_cookies AS "passCookies", r.strip_cookies AS "stripCookies", r.slices, r.override_origin AS "overrideOrigin",
  r.priority, r.enabled, r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;
const sorted = { priority: sql`r.priority`, createdAt: sql`r.created_at`, updatedAt: sql`r.updated_at` };

export const readRules = ({ db }: Ctx, siteId: string, paging: Paging<keyof typeof sorted>): Promise<CacheRule[]> =>
  db.$read(
    ({ site }) => sql`SELECT ${columns} FROM cache_rules r JOIN sites s ON s.id = r.site_id
      WHERE r.site_id = ${siteId} AND ${site} ${pageSql(paging, sorted, sql`r.id`)}`,
  );

/** The total. Null: no such site. */
export async function countRules({ db }: Ctx, siteId: string): Promise<number | null> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT (SELECT count(*)::int FROM cache_rules r WHERE r.site_id = s.id) AS total FROM sites s
      WHERE s.id = ${siteId} AND ${site}`,
  );
  return row?.total ?? null;
}
