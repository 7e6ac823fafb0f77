// Time series for charts. A step in which no node of the zones reported has null values: unknown, not zero.
import type { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { Chart, ChartMetric, ChartRange, ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { andAll, sql } from '../../core/sql.ts';
import { NO_SITE } from '../../statistics/store-logs.ts';

const steps: Readonly<Record<ChartRange, { stepSeconds: number; count: number }>> = {
  '24h': { stepSeconds: 900, count: 96 },
  '30d': { stepSeconds: 3600, count: 720 },
};
const shapes: Readonly<Record<ChartMetric, { unit: ChartUnit; series: readonly string[] }>> = {
  traffic: { unit: 'byte', series: ['traffic'] },
  cache: { unit: 'share', series: ['hitRate'] },
  bandwidth: { unit: 'bit', series: ['bandwidth'] },
  requests: { unit: 'count', series: ['requests'] },
  toUpstream: { unit: 'count', series: ['toUpstream'] },
  status: { unit: 'count', series: ['2xx', '3xx', '4xx', '5xx', '9xx'] },
};

const tables = { '24h': sql`traffic_5m`, '30d': sql`traffic_1h` } as const;

interface Step {
  /** Milliseconds since 1970. */
  at: number;
  requests: number;
  bytes: number;
  hits: number;
  toUpstream: number;
  s2: number;
  s3: number;
  s4: number;
  s5: number;
  s9: number;
}

export async function get(ctx: Ctx, { params: { metric }, query }: Request<typeof charts.get>): Promise<Chart> {
  await assertSeen(ctx, query);
  const { stepSeconds, count } = steps[query.range];
  const step = stepSeconds * 1000;
  // The current step is the last one.
  const to = (Math.floor(ctx.now().getTime() / step) + 1) * step;
  const from = to - count * step;
  const times = Array.from({ length: count }, (_, i) => from + i * step);
  const measured = await readSteps(ctx, query, new Date(from), stepSeconds);
  const { unit, series } = shapes[metric];
  return {
    metric,
    range: query.range,
    unit,
    from: new Date(from),
    to: new Date(to),
    stepSeconds,
    hasData: measured.size > 0,
    times: times.map((at) => new Date(at)),
    series: series.map((name, i) => ({
      name,
      values: times.map((at) => {
        const found = measured.get(at);
        const elapsed = Math.min(stepSeconds, Math.max(1, Math.ceil((ctx.now().getTime() - at) / 1000)));
        return found === undefined ? null : (valuesOf(metric, found, elapsed)[i] ?? null);
      }),
    })),
  };
}

/** In the order of the metric's series. `seconds`: how much of the step has passed. */
function valuesOf(metric: ChartMetric, step: Step, seconds: number): (number | null)[] {
  if (metric === 'traffic') return [step.bytes];
  if (metric === 'bandwidth') return [(step.bytes * 8) / seconds];
  if (metric === 'requests') return [step.requests];
  if (metric === 'toUpstream') return [step.toUpstream];
  if (metric === 'cache') return [step.requests === 0 ? null : step.hits / step.requests];
  return [step.s2, step.s3, step.s4, step.s5, step.s9];
}

/** The sums of the visible sites, by the beginning of each step in which a node of their zones reported. */
async function readSteps(
  { db }: Ctx,
  { siteID, zoneID, range }: Request<typeof charts.get>['query'],
  from: Date,
  stepSeconds: number,
): Promise<Map<number, Step>> {
  const ids = andAll([siteID && sql`s.id = ${siteID}::uuid`, zoneID && sql`s.zone_id = ${zoneID}::uuid`]);
  const rows = await db.$read<Step>(
    ({ site }) => sql`WITH seen AS (SELECT s.id, s.zone_id FROM sites s WHERE ${site}${ids})
    SELECT (extract(epoch FROM date_bin(make_interval(secs => ${stepSeconds}), t.at, 'epoch')) * 1000)::float8 AS at,
      sum(t.requests)::float8 AS requests, sum(t.bytes)::float8 AS bytes, sum(t.hits)::float8 AS hits,
      sum(t.to_upstream)::float8 AS "toUpstream", sum(t.s2)::float8 AS s2, sum(t.s3)::float8 AS s3,
      sum(t.s4)::float8 AS s4, sum(t.s5)::float8 AS s5, sum(t.s9)::float8 AS s9
    FROM (
      SELECT t.at, t.requests, t.bytes, t.hits, t.to_upstream, t.s2, t.s3, t.s4, t.s5, t.s9
      FROM seen JOIN ${tables[range]} t ON t.zone_id = seen.zone_id AND t.site_id = seen.id AND t.at >= ${from}
      UNION ALL
      SELECT DISTINCT t.at, 0, 0, 0, 0, 0, 0, 0, 0, 0
      FROM (SELECT DISTINCT zone_id FROM seen) z
      JOIN ${tables[range]} t ON t.zone_id = z.zone_id AND t.site_id = ${NO_SITE}::uuid AND t.at >= ${from}
    ) t GROUP BY 1`,
  );
  return new Map(rows.map((row) => [row.at, row]));
}

/** A customer sees a zone's figures only for its own sites. */
async function assertSeen({ db }: Ctx, { siteID, zoneID }: Request<typeof charts.get>['query']) {
  if (siteID !== undefined && (await db.site.count({ where: { id: siteID } })) === 0) fail('NOT_FOUND');
  if (zoneID === undefined || (await db.site.count({ where: { zoneId: zoneID } })) > 0) return;
  if ((await db.zone.count({ where: { id: zoneID } })) === 0) fail('NOT_FOUND');
}
