import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { checkNoSite } from '../statistics/statistics.ts';

export const ChartMetric = z.enum(['traffic', 'cache', 'bandwidth', 'requests', 'toUpstream', 'status']);
export const ChartRange = z.enum(['24h', '30d']);
export const ChartQuery = z
  .object({
    range: ChartRange.default('24h').describe('Steps of 15 minutes, or of an hour. The current hour is the last one'),
    zoneID: Id.optional(),
    siteID: Id.optional(),
    noSite: z.literal('true').optional().describe('Only requests of no known site. Without siteID'),
  })
  .superRefine(({ noSite, siteID: siteIDs }, ctx) => checkNoSite({ noSite, siteIDs }, ctx));

/** Bytes, bits per second, or a count. `cache` has the hit rate from 0 to 1. */
export const ChartUnit = z.enum(['byte', 'bit', 'count', 'share']);
export const Chart = z.object({
  metric: ChartMetric,
  range: ChartRange,
  unit: ChartUnit,
  from: Time,
  to: Time,
  stepSeconds: z.int(),
  hasData: z.boolean().describe('False: nothing was measured in this time; zero would say that nothing happened'),
  times: z.array(Time).describe('The beginning of each step'),
  series: z.array(
    z.object({ name: z.string(), values: z.array(z.number().nullable()).describe('Null: not measured') }),
  ),
});

export type ChartMetric = z.output<typeof ChartMetric>;
export type ChartRange = z.output<typeof ChartRange>;
export type ChartUnit = z.output<typeof ChartUnit>;
export type Chart = z.output<typeof Chart>;
