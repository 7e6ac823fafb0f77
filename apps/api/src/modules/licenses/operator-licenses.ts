// The operators of the installation with limits, usage and end of their licenses, in one statement.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { OperatorLicense } from '@edgeloom/contract/licenses/licenses.ts';
import type { Ctx } from '../../core/ctx.ts';
import { sql } from '../../core/sql.ts';

type Column = 'endsAt' | 'clientName';
const orders = {
  endsAt: { asc: sql`l.ends_at ASC NULLS LAST`, desc: sql`l.ends_at DESC NULLS LAST` },
  clientName: { asc: sql`c.name ASC`, desc: sql`c.name DESC` },
} as const;

/** Licenses without an end come last. */
export async function listOperatorLicenses({ db }: Ctx, { page, pageSize, sortBy, orderBy }: Paging<Column>) {
  const order = sql`${orders[sortBy][orderBy]}, c.name, a.id`;
  const [rows, [counted]] = await Promise.all([
    db.$read<OperatorLicense>(
      ({ account }) => sql`WITH page AS (
          SELECT c.id, c.name, a.id AS account_id, a.status, l.*, row_number() OVER (ORDER BY ${order}) AS place
          FROM accounts a JOIN clients c ON c.id = a.client_id LEFT JOIN licenses l ON l.client_id = c.id
          WHERE ${account} AND a.kind = 'client' AND a.is_root
          ORDER BY ${order} LIMIT ${pageSize}::int OFFSET ${(page - 1) * pageSize}::int)
        SELECT account_id AS "accountID", name AS "clientName", status::text AS status, ends_at AS "endsAt",
          coalesce(layer4, TRUE) AS layer4,
          json_build_object('sites', coalesce(site_limit, 0), 'nodes', coalesce(node_limit, 0), 'zones', coalesce(zone_limit, 0),
            'domains', coalesce(domain_limit, 0), 'autoCertificates', coalesce(auto_certificate_limit, 0)) AS limits,
          json_build_object('sites', (SELECT count(*) FROM sites s WHERE s.client_id = p.id),
            'nodes', (SELECT count(*) FROM nodes n JOIN zones z ON z.id = n.zone_id WHERE z.client_id = p.id),
            'zones', (SELECT count(*) FROM zones z WHERE z.client_id = p.id),
            'domains', (SELECT count(*) FROM domains d JOIN sites s ON s.id = d.site_id WHERE s.client_id = p.id),
            'autoCertificates', (SELECT count(*) FROM certificates x JOIN sites s ON s.id = x.site_id
              WHERE s.client_id = p.id AND x.type = 'automatic')) AS uses
        FROM page p ORDER BY place`,
    ),
    db.$read<{ total: number }>(
      ({ account }) =>
        sql`SELECT count(*)::int AS total FROM accounts a WHERE ${account} AND a.kind = 'client' AND a.is_root`,
    ),
  ]);
  return { data: rows, total: counted?.total ?? 0 };
}
