// Licenses that end soon and clients near a limit: for administrators, one line for each client.
import type { AttentionItem } from '@edgeloom/contract/attention/attention.ts';
import { Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import type { Ctx } from '../../core/ctx.ts';
import { usesOf } from '../../core/license.ts';
import { sql } from '../../core/sql.ts';

export const ENDING_DAYS = 30;
export const NEAR_SHARE = 0.9;
/** The licenses that end soonest and the clients nearest to a limit are listed first. */
const MOST_CLIENTS = 20;

interface Row {
  name: string;
  accountID: string;
  endsAt: Date | null;
  thing: Licensed | null;
  uses: number;
  most: number;
  /** Rows of its kind, including those that are not listed. */
  total: number;
}

export async function ofLicenses({ db, now }: Ctx): Promise<AttentionItem[]> {
  const at = now();
  const until = new Date(at.getTime() + ENDING_DAYS * 86_400_000);
  const { sites, zones, nodes, domains, autoCertificates } = usesOf(sql`h.client_id`);
  const rows = await db.$read<Row>(
    ({ account }) => sql`WITH held AS (
        SELECT c.name, a.id AS "accountID", l.* FROM licenses l JOIN clients c ON c.id = l.client_id
        JOIN accounts a ON a.client_id = c.id AND a.kind = 'client' AND a.is_root WHERE ${account}),
      limits AS (SELECT h.name, h."accountID", v.thing, v.uses, v.most FROM held h, LATERAL (VALUES
        ('sites', h.site_limit, ${sites}), ('zones', h.zone_limit, ${zones}), ('nodes', h.node_limit, ${nodes}),
        ('domains', h.domain_limit, ${domains}), ('autoCertificates', h.auto_certificate_limit, ${autoCertificates})) v (thing, most, uses)
        WHERE v.most > 0 AND v.uses >= v.most * ${NEAR_SHARE}::float8)
      (SELECT name, "accountID", ends_at AS "endsAt", NULL AS thing, 0 AS uses, 0 AS most, count(*) OVER ()::int AS total FROM held
        WHERE ends_at <= ${until} ORDER BY ends_at LIMIT ${MOST_CLIENTS}::int)
      UNION ALL
      (SELECT name, "accountID", NULL, thing, uses, most, count(*) OVER ()::int FROM limits ORDER BY uses::float8 / most DESC, name LIMIT ${MOST_CLIENTS}::int)`,
  );
  const listed = rows.map(({ name, accountID, endsAt, thing, uses, most }): AttentionItem => ({
    ...noSite,
    kind: thing !== null ? 'licenseNearLimit' : endsAt !== null && endsAt <= at ? 'licenseEnded' : 'licenseEnding',
    count: 1,
    names: [name],
    accountID,
    endsAt,
    limit: thing === null ? null : { of: Licensed.parse(thing), uses, most },
  }));
  return [
    ...listed,
    ...restOf(
      'licenseEnding',
      rows.filter(({ thing }) => thing === null),
    ),
    ...restOf(
      'licenseNearLimit',
      rows.filter(({ thing }) => thing !== null),
    ),
  ];
}

const noSite = { site: null, siteCount: 0, moduleKind: null };

/** One item for all rows after the listed ones. */
function restOf(kind: AttentionItem['kind'], rows: readonly Row[]): AttentionItem[] {
  const count = (rows[0]?.total ?? 0) - rows.length;
  return count === 0 ? [] : [{ ...noSite, kind, count, names: [], accountID: null, endsAt: null, limit: null }];
}
