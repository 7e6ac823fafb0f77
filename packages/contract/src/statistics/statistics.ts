import * as z from 'zod';
import { Id, paged, Time } from '../common/common.ts';

export const TimeInterval = z.enum([
  'today',
  'yesterday',
  'oneHour',
  'sixHours',
  'oneDay',
  'sevenDays',
  'thirtyDays',
  'custom',
]);
/** In minutes. */
export const ReportInterval = z.literal([1, 5, 15, 60, 1440]);
const TimeZone = z
  .string()
  .max(64)
  .refine((name) => isTimeZone(name), { error: 'an IANA time zone' })
  .default('UTC')
  .describe('Where today and yesterday begin');

/** Points of one series, for 93 days in steps of five minutes. */
export const MAX_POINTS = 26_784;
const DAY_MS = 86_400_000;
/** Longest time of each report interval, limited by points and by how long its sums are kept. */
export const LONGEST_DAYS: Readonly<Record<ReportInterval, number>> = { 1: 7, 5: 93, 15: 93, 60: 366, 1440: 366 };

/** Which requests: all that the caller may see, unless narrowed. */
const Selection = z.object({
  siteIDs: z.array(Id).max(1000).optional(),
  tags: z.array(z.string().max(64)).max(20).optional().describe('Sites with any of these tags'),
  domains: z.array(z.string().max(253)).max(1000).optional().describe('Names of domains'),
  timeInterval: TimeInterval.default('oneDay'),
  startTime: Time.optional().describe('Of `custom`'),
  endTime: Time.optional().describe('Of `custom`'),
  timeZone: TimeZone,
});
const withCustomTimes = <
  S extends z.ZodType<Pick<z.output<typeof Selection>, 'timeInterval' | 'startTime' | 'endTime'>>,
>(
  schema: S,
) =>
  schema.superRefine(({ timeInterval, startTime, endTime }, ctx) => {
    if (timeInterval !== 'custom') return;
    if (startTime === undefined) ctx.addIssue({ code: 'custom', path: ['startTime'], message: 'required' });
    if (endTime === undefined) ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'required' });
    if (startTime === undefined || endTime === undefined) return;
    if (endTime <= startTime) ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'after the start' });
    else if (endTime.getTime() - startTime.getTime() > LONGEST_DAYS[1440] * DAY_MS)
      ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'at most 366 days' });
  });

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Numbers of the specification. */
export const cardTypes = { traffic: 3, requests: 4, hitRate: 5, addresses: 14, bandwidth95: 15 } as const;
export const seriesTypes = { bandwidthAndTraffic: 2, status: 12, protocol: 13 } as const;
export const topTypes = {
  country: 11,
  status: 12,
  address: 14,
  isp: 18,
  url: 19,
  referer: 20,
  province: 21,
  method: 22,
  httpVersion: 23,
  blacklist: 24,
  wafRule: 25,
} as const;

export const StatisticsQuery = withCustomTimes(Selection);
export const Cards = z.object({
  from: Time,
  to: Time,
  data: z.array(
    z.object({
      type: z
        .literal(Object.values(cardTypes))
        .describe('3 bytes, 4 requests, 5 share from the cache (0 to 1), 14 addresses, 15 bits per second'),
      value: z.number().nullable().describe('Null: not measured'),
      previous: z.number().nullable().describe('Of the same time before'),
    }),
  ),
});

export const SeriesQuery = withCustomTimes(
  Selection.extend({
    types: z
      .array(z.literal(Object.values(seriesTypes)))
      .min(1)
      .max(3)
      .default([2]),
    reportInterval: ReportInterval.default(5).describe('Minutes'),
  }),
);
export const TimeSeries = z.object({
  from: Time,
  to: Time,
  stepSeconds: z.int(),
  times: z.array(Time).describe('The beginning of each step'),
  series: z.array(
    z.object({
      type: z.literal(Object.values(seriesTypes)),
      name: z.enum(['bandwidth', 'traffic', '2xx', '3xx', '4xx', '5xx', '9xx', 'ipv4', 'ipv6']),
      values: z.array(z.number().nullable()).describe('Null: not measured. Bits per second, bytes or requests'),
    }),
  ),
});

export const TopQuery = withCustomTimes(
  Selection.extend({
    type: z.literal(Object.values(topTypes)),
    top: z.int().min(1).max(1000).default(10),
    sortBy: z.enum(['requests', 'bytes']).default('requests'),
  }),
);
export const Top = z.object({
  type: z.literal(Object.values(topTypes)),
  data: z.array(
    z.object({
      value: z.string(),
      requests: z.int(),
      bytes: z.int(),
      error: z.int().describe('By how many requests the count may be too low; 0: exact'),
    }),
  ),
  total: z.object({ requests: z.int(), bytes: z.int() }).describe('Of all values'),
});

export const RankQuery = withCustomTimes(
  Selection.extend({
    page: z.int().min(1).default(1),
    pageSize: z.int().min(1).max(500).default(25),
    sortBy: z.enum(['requests', 'traffic', 'hitRate', 'errors']).default('requests'),
    orderBy: z.enum(['asc', 'desc']).default('desc'),
  }),
);
export const Rank = paged(
  z.object({
    siteID: Id,
    siteName: z.string(),
    domainID: Id,
    domain: z.string(),
    requests: z.int(),
    traffic: z.int().describe('Bytes'),
    hitRate: z.number().nullable(),
    toUpstream: z.int(),
    errors: z.int().describe('Responses of 4xx, 5xx and 9xx'),
  }),
);

export const QpsQuery = z.object({
  siteIDs: z.array(Id).max(1000).optional(),
  from: Time.optional().describe('Six hours ago'),
  to: Time.optional().describe('Now'),
});
export const Qps = z.object({
  stepSeconds: z.int(),
  times: z.array(Time),
  values: z.array(z.number().nullable()).describe('Requests per second in steps of five minutes'),
});

export type TimeInterval = z.output<typeof TimeInterval>;
export type ReportInterval = z.output<typeof ReportInterval>;
export type StatisticsQuery = z.output<typeof StatisticsQuery>;
export type SeriesQuery = z.output<typeof SeriesQuery>;
export type TopQuery = z.output<typeof TopQuery>;
export type RankQuery = z.output<typeof RankQuery>;
export type QpsQuery = z.output<typeof QpsQuery>;
export type TimeSeries = z.output<typeof TimeSeries>;
export type Cards = z.output<typeof Cards>;
export type Top = z.output<typeof Top>;
export type Rank = z.output<typeof Rank>;
export type Qps = z.output<typeof Qps>;
