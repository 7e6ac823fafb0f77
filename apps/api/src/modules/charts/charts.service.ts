// Time series for charts. Traffic is not measured yet, so each response has its time steps with null values: unknown,
// not zero.
import type { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { Chart, ChartMetric, ChartRange, ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';

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

export async function get(ctx: Ctx, { params: { metric }, query }: Request<typeof charts.get>): Promise<Chart> {
  await assertSeen(ctx, query);
  const { stepSeconds, count } = steps[query.range];
  const step = stepSeconds * 1000;
  // The current step is the last one.
  const to = (Math.floor(ctx.now().getTime() / step) + 1) * step;
  const times = Array.from({ length: count }, (_, i) => new Date(to - (count - i) * step));
  const { unit, series } = shapes[metric];
  return {
    metric,
    range: query.range,
    unit,
    from: new Date(to - count * step),
    to: new Date(to),
    stepSeconds,
    hasData: false,
    times,
    series: series.map((name) => ({ name, values: times.map(() => null) })),
  };
}

/** A customer sees a zone's figures only for its own sites. */
async function assertSeen({ db }: Ctx, { siteID, zoneID }: Request<typeof charts.get>['query']) {
  if (siteID !== undefined && (await db.site.count({ where: { id: siteID } })) === 0) fail('NOT_FOUND');
  if (zoneID === undefined || (await db.site.count({ where: { zoneId: zoneID } })) > 0) return;
  if ((await db.zone.count({ where: { id: zoneID } })) === 0) fail('NOT_FOUND');
}
