// Rule matches and origin attempts of a site in the last 24 hours: one query for all of a list.
import type { OriginsTraffic } from '@edgeloom/contract/domains/domains.ts';
import { topTypes, type RuleMatches } from '@edgeloom/contract/statistics/statistics.ts';
import { canonicalNetwork } from '@edgeloom/contract/common/address.ts';
import type { Ctx } from '../core/ctx.ts';
import { sql } from '../core/sql.ts';
import { firstHour } from './list-traffic.ts';
import { ruleAndOriginTypes } from './top-values.ts';

interface Count {
  type: number;
  value: string;
  requests: number;
}
type Kind = keyof typeof ruleAndOriginTypes;

/**
 * Null if an hour with requests is not complete: values were removed, or an earlier release counted it (top-values.ts).
 * Also null if nodes of the zone reported nothing: each batch of lines makes a row with the zone's ID (traffic.ts).
 */
async function readCounts({ db, now }: Ctx, siteId: string, kinds: Kind[], domainId: string | null) {
  const since = new Date(firstHour(now()));
  const types = kinds.map((kind) => String(ruleAndOriginTypes[kind]));
  const [found] = await db.$read<{ counts: Count[] }>(
    ({
      site,
    }) => sql`WITH seen AS (SELECT s.id, s.zone_id FROM sites s WHERE ${site} AND s.id = ${siteId}::uuid), sums AS (
      SELECT t.type, t.value, sum(t.requests)::float8 AS requests
      FROM seen JOIN top_values t ON t.site_id = seen.id AND t.type = ANY (${types}::int2[]) AND t.at >= ${since}
        AND (${domainId}::uuid IS NULL OR t.domain_id = ${domainId}::uuid)
      GROUP BY 1, 2
    )
    SELECT coalesce((SELECT json_agg(sums) FROM sums), '[]') AS counts
    FROM seen WHERE EXISTS (SELECT FROM traffic t WHERE t.site_id = seen.zone_id AND t.step = 3600 AND t.at >= ${since})
      AND NOT EXISTS (
        SELECT FROM top_groups h, unnest(${types}::int2[]) AS needed (type)
        WHERE h.site_id = seen.id AND h.type = ${topTypes.status} AND h.at >= ${since} AND NOT EXISTS (
          SELECT FROM top_groups g WHERE g.site_id = seen.id AND g.type = needed.type AND g.at = h.at AND g.removed = 0
        )
      )`,
  );
  return found?.counts ?? null;
}

export async function readRuleMatches(ctx: Ctx, siteId: string): Promise<RuleMatches> {
  const [counts, monitored] = await Promise.all([
    readCounts(ctx, siteId, ['rule'], null),
    readCounts(ctx, siteId, ['wouldBlock'], null),
  ]);
  const wouldBlock = monitored && new Map(monitored.map(({ value, requests }) => [value, requests]));
  const data = (counts ?? []).map(({ value, requests }) => ({
    ruleID: value,
    requests,
    wouldBlock: wouldBlock && (wouldBlock.get(value) ?? 0),
  }));
  return { isMeasured: counts !== null, data };
}

interface Origin {
  id: string;
  address: string;
  port: number;
}

/**
 * Logs have the names of origins, or their addresses. A port map replaces the origin's port, so ports are compared only
 * between origins with the same address.
 */
export async function readOriginTraffic(
  ctx: Ctx,
  { siteId, domainId }: { siteId: string; domainId: string },
  origins: readonly Origin[],
): Promise<OriginsTraffic> {
  const counts = await readCounts(ctx, siteId, ['origin', 'originFailed'], domainId);
  const byAddress = Map.groupBy(
    (counts ?? []).map((counted) => ({ ...counted, ...placeOf(counted.value) })),
    ({ address }) => address,
  );
  const sharing = Map.groupBy(origins, ({ address }) => canonicalNetwork(address));
  const data = origins.flatMap((origin) => {
    const address = canonicalNetwork(origin.address);
    const isOnly = sharing.get(address)?.length === 1;
    const own = (byAddress.get(address) ?? []).filter(({ port }) => isOnly || port === origin.port);
    const attempts = sumOf('origin', own);
    return attempts === 0 ? [] : [{ upstreamID: origin.id, attempts, failed: sumOf('originFailed', own) }];
  });
  return { isMeasured: counts !== null, data };
}

const sumOf = (kind: Kind, counts: readonly Count[]) =>
  counts.reduce((sum, { type, requests }) => sum + (type === ruleAndOriginTypes[kind] ? requests : 0), 0);

/** The value is like `[2001:db8::1]:443` or `origin.example.com:443`. */
function placeOf(logged: string) {
  const end = logged.lastIndexOf(':');
  const address = logged.slice(0, end).replace(/^\[|\]$/g, '');
  return { address: canonicalNetwork(address), port: Number(logged.slice(end + 1)) };
}
