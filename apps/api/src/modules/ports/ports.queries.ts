// A page of a site's ports: the zone's HTTP ports that it uses, and its port forwards.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Port } from '@edgeloom/contract/ports/ports.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, contains, pageSql, sql, type Sql, type Visible } from '../../core/sql.ts';

export type PortPaging = Paging<'port' | 'createdAt' | 'updatedAt'>;
export interface PortFilter {
  keyword?: string | undefined;
  portType?: '4' | '7' | undefined;
  enabled?: boolean | undefined;
}

const listened = ({ site }: Visible, siteId: string) => sql`(
  SELECT q.id, 7 AS type, q.port, 'tcp' AS protocol, q.tls, true AS enabled, '' AS memo, q.created_at AS created, q.created_at AS updated
  FROM sites s JOIN zone_ports q ON q.zone_id = s.zone_id
  WHERE s.id = ${siteId} AND ${site}
    AND (q.port IN (80, 443) OR EXISTS (SELECT 1 FROM site_ports o WHERE o.site_id = s.id AND o.zone_port_id = q.id))
  UNION ALL
  SELECT r.id, 4, r.port, r.protocol, false, r.enabled, r.memo, r.created_at, r.updated_at
  FROM sites s JOIN port_rules r ON r.site_id = s.id
  WHERE s.id = ${siteId} AND ${site}
)`;

const matching = ({ keyword, portType, enabled }: PortFilter): Sql =>
  andAll([
    keyword &&
      sql`(${contains(sql`p.port::text`, keyword)} OR ${contains(sql`p.memo`, keyword)}
        OR EXISTS (SELECT 1 FROM port_upstreams u WHERE u.port_rule_id = p.id AND ${contains(sql`u.address`, keyword)}))`,
    portType && sql`p.type = ${Number(portType)}`,
    enabled !== undefined && sql`p.enabled = ${enabled}`,
  ]);
const sorted = { port: sql`p.port`, createdAt: sql`p.created`, updatedAt: sql`p.updated` };

/** Columns of port forwards are read only for the rows of the page. */
export const readPorts = ({ db }: Ctx, siteId: string, paging: PortPaging, filter: PortFilter): Promise<Port[]> =>
  db.$read(
    (visible) => sql`SELECT p.id, p.type AS "portType", p.port, p.protocol, p.tls, p.enabled, p.memo,
        r.accept_proxy AS "acceptProxy", r.send_proxy AS "sendProxy", r.method, r.max_fails AS "maxFails",
        r.fail_timeout_seconds AS "failTimeoutSeconds", r.connect_timeout_seconds AS "connectTimeoutSeconds",
        r.idle_timeout_seconds AS "idleTimeoutSeconds", p.created AS "createdAt", p.updated AS "updatedAt", coalesce(
          (SELECT json_agg(json_build_object('id', u.id, 'address', u.address, 'port', u.port, 'weight', u.weight,
             'backup', u.backup, 'enabled', u.enabled) ORDER BY u.id)
           FROM port_upstreams u WHERE u.port_rule_id = p.id), '[]') AS upstreams
      FROM ${listened(visible, siteId)} p LEFT JOIN port_rules r ON r.id = p.id
      WHERE true${matching(filter)} ${pageSql(paging, sorted, sql`p.id`)}`,
  );

export async function countPorts({ db }: Ctx, siteId: string, filter: PortFilter): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    (visible) => sql`SELECT count(*)::int AS total FROM ${listened(visible, siteId)} p WHERE true${matching(filter)}`,
  );
  return row?.total ?? 0;
}
