// Time series for charts. A step in which no node of the zones reported has null values: unknown, not zero.
import type { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { Chart, ChartMetric, ChartRange, ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { readSteps, type Sums } from '../../statistics/read-traffic.ts';

const steps: Readonly<Record<ChartRange, { stepSeconds: number; rowSeconds: number; count: number }>> = {
  '24h': { stepSeconds: 900, rowSeconds: 300, count: 96 },
  '30d': { stepSeconds: 3600, rowSeconds: 3600, count: 720 },
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
  const { stepSeconds, rowSeconds, count } = steps[query.range];
  const step = stepSeconds * 1000;
  // The current step is the last one.
  const to = (Math.floor(ctx.now().getTime() / step) + 1) * step;
  const from = to - count * step;
  const times = Array.from({ length: count }, (_, i) => from + i * step);
  const selection = {
    siteIDs: query.siteID === undefined ? undefined : [query.siteID],
    zoneID: query.zoneID,
    noSite: query.noSite && (true as const),
    isInstallation: ctx.actor.kind === 'admin',
  };
  const measured = await readSteps(ctx, selection, { from: new Date(from), to: new Date(to) }, rowSeconds, stepSeconds);
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
