// Queries for zones: a page and its total.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Zone } from '@edgeloom/contract/zones/zones.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, contains, pageSql, sql } from '../../core/sql.ts';

export type ZonePaging = Paging<'createdAt' | 'name' | 'updatedAt'>;

const columns = sql`z.id, z.name, z.memo, z.cdn_ray_log AS "CDNRayLog", z.revision AS serial, z.force_ssl_redirect_code AS "forceSSLRedirectCode", z.created_at AS "createdAt", z.updated_at AS "updatedAt",
  (SELECT count(*)::int FROM nodes n WHERE n.zone_id = z.id) AS "nodeCount",
  (SELECT count(*)::int FROM sites s WHERE s.zone_id = z.id) AS "siteCount",
  coalesce((SELECT json_agg(json_build_object('port', q.port, 'tls', q.tls) ORDER BY q.port) FROM zone_ports q WHERE q.zone_id = z.id), '[]') AS ports`;
const sorted = { createdAt: sql`z.created_at`, name: sql`z.name`, updatedAt: sql`z.updated_at` };

export const readZones = ({ db }: Ctx, paging: ZonePaging, name: string | undefined): Promise<Zone[]> =>
  db.$read(
    ({ zone }) => sql`SELECT ${columns} FROM zones z
      WHERE ${zone}${andAll([name && contains(sql`z.name`, name)])} ${pageSql(paging, sorted, sql`z.id`)}`,
  );

export async function countZones({ db }: Ctx, name: string | undefined): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ zone }) =>
      sql`SELECT count(*)::int AS total FROM zones z WHERE ${zone}${andAll([name && contains(sql`z.name`, name)])}`,
  );
  return row?.total ?? 0;
}
