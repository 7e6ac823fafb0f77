// The operators of the installation with limits, usage and end of their licenses, in one statement.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { OperatorLicense } from '@edgeloom/contract/licenses/licenses.ts';
import type { Ctx } from '../../core/ctx.ts';
import { licenseColumns } from '../../core/license.ts';
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
          SELECT c.id, c.name, a.id AS account_id, a.status, row_number() OVER (ORDER BY ${order}) AS place
          FROM accounts a JOIN clients c ON c.id = a.client_id LEFT JOIN licenses l ON l.client_id = c.id
          WHERE ${account} AND a.kind = 'client' AND a.is_root
          ORDER BY ${order} LIMIT ${pageSize}::int OFFSET ${(page - 1) * pageSize}::int)
        SELECT p.account_id AS id, p.account_id AS "accountID", p.name AS "clientName", p.status::text AS status, l.client_id IS NOT NULL AS "isLicensed",
          ${licenseColumns(sql`p.id`)}
        FROM page p LEFT JOIN licenses l ON l.client_id = p.id ORDER BY p.place`,
    ),
    db.$read<{ total: number }>(
      ({ account }) =>
        sql`SELECT count(*)::int AS total FROM accounts a WHERE ${account} AND a.kind = 'client' AND a.is_root`,
    ),
  ]);
  return { data: rows, total: counted?.total ?? 0 };
}
