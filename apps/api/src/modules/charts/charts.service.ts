// Time series for charts. A step in which no node of the zones reported has null values: unknown, not zero.
import type { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { Chart, ChartMetric, ChartRange, ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { readSteps, type Sums } from '../../statistics/read-traffic.ts';
import { stepsOf } from '../../statistics/time-interval.ts';

/** As cards and tops, so that all figures of a dashboard agree. */
const queries = {
  '24h': { timeInterval: 'oneDay', reportInterval: 15, timeZone: 'UTC' },
  '30d': { timeInterval: 'thirtyDays', reportInterval: 60, timeZone: 'UTC' },
} as const satisfies Readonly<Record<ChartRange, Parameters<typeof stepsOf>[0]>>;
const shapes: Readonly<Record<ChartMetric, { unit: ChartUnit; series: readonly string[] }>> = {
  traffic: { unit: 'byte', series: ['traffic'] },
  cache: { unit: 'share', series: ['hitRate'] },
  bandwidth: { unit: 'bit', series: ['bandwidth'] },
  requests: { unit: 'count', series: ['requests'] },
  toUpstream: { unit: 'count', series: ['toUpstream'] },
  status: { unit: 'count', series: ['2xx', '3xx', '4xx', '5xx', '9xx'] },
};

export async function get(ctx: Ctx, { params: { metric }, query }: Request<typeof charts.get>): Promise<Chart> {
  await assertSeen(ctx, query);
  const { times, stepSeconds, rowSeconds, starts, bins, elapsedSeconds } = stepsOf(queries[query.range], ctx.now());
  const selection = {
    siteIDs: query.siteID === undefined ? undefined : [query.siteID],
    zoneID: query.zoneID,
    noSite: query.noSite && (true as const),
    isInstallation: ctx.actor.kind === 'admin',
  };
  const measured = await readSteps(ctx, selection, times, rowSeconds, bins);
  const { unit, series } = shapes[metric];
  return {
    metric,
    range: query.range,
    unit,
    ...times,
    stepSeconds,
    hasData: measured.size > 0,
    times: starts.map((at) => new Date(at)),
    series: series.map((name, i) => ({
      name,
      values: starts.map((at) => {
        const found = measured.get(at);
        return found === undefined ? null : (valuesOf(metric, found, elapsedSeconds(at))[i] ?? null);
      }),
    })),
  };
}

/** In the order of the metric's series. `seconds`: how much of the step has passed. */
function valuesOf(metric: ChartMetric, step: Sums, seconds: number): (number | null)[] {
  if (metric === 'traffic') return [step.bytes];
  if (metric === 'bandwidth') return [(step.bytes * 8) / seconds];
  if (metric === 'requests') return [step.requests];
  if (metric === 'toUpstream') return [step.toUpstream];
  if (metric === 'cache') return [step.requests === 0 ? null : step.hits / step.requests];
  return [step.s2, step.s3, step.s4, step.s5, step.s9];
}

/** A customer sees a zone's figures only for its own sites. */
async function assertSeen({ db }: Ctx, { siteID, zoneID }: Request<typeof charts.get>['query']) {
  if (siteID !== undefined && (await db.site.count({ where: { id: siteID } })) === 0) fail('NOT_FOUND');
  if (zoneID === undefined || (await db.site.count({ where: { zoneId: zoneID } })) > 0) return;
  if ((await db.zone.count({ where: { id: zoneID } })) === 0) fail('NOT_FOUND');
}
