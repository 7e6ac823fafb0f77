import * as z from 'zod';
import { Id, paged, Time } from '../common/common.ts';
import { isTimeZone } from '../common/calendar.ts';
import { LONGEST_DAY_MS } from '../common/longest-day.ts';
import { Language } from '../auth/auth.ts';
import { cardTypes, seriesTypes, topTypes } from './type-numbers.ts';

// Without the schemas for pages that have no form.
export { cardTypes, seriesTypes, topTypes };

export const TimeInterval = z.enum([
  'today',
  'yesterday',
  'oneHour',
  'sixHours',
  'oneDay',
  'sevenDays',
  'thirtyDays',
  'thisMonth',
  'lastMonth',
  'custom',
]);
/** In minutes. */
export const ReportInterval = z.literal([1, 5, 15, 60, 1440]);
const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: 'an IANA time zone' })
  .default('UTC')
  .describe('Where days begin');

/** Points of one series, for 93 days in steps of five minutes. The clocks may go back by an hour in this time. */
export const MAX_POINTS = (93 * 24 + 1) * 12;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longest time of each report interval, limited by points and by how long its sums are kept. */
export const LONGEST_DAYS: Readonly<Record<ReportInterval, number>> = { 1: 7, 5: 93, 15: 93, 60: 366, 1440: 366 };

/** They belong to the zone: a node without the site, or a request that was refused before its site was known. */
export const NoSite = z
  .literal(true)
  .optional()
  .describe('Only requests of no known site. Without other sites or domains');
export function checkNoSite(
  { noSite, siteIDs, tags, domains }: { noSite?: unknown; siteIDs?: unknown; tags?: unknown; domains?: unknown },
  ctx: z.RefinementCtx,
): void {
  if (noSite && (siteIDs ?? tags ?? domains) !== undefined)
    ctx.addIssue({ code: 'custom', path: ['noSite'], message: 'without siteIDs, tags and domains' });
}

const Values = z.array(z.string().min(1).max(512)).min(1).max(20).optional();
const Regions = z.array(z.string().min(1).max(64)).min(1).max(10).optional();
/** Requests with one of the values of each field. Values are those of the tops. */
export const StatisticsFilters = z.object({
  country: Regions,
  province: Regions,
  isp: Values,
  status: Values.describe('404, or 5xx for a class'),
  address: Values,
  url: Values.describe('Host and path'),
  referer: Values,
  method: Values,
  httpVersion: Values,
  blacklist: Values.describe('Why nodes refused them; also `waf`'),
  wafRule: Values.describe('Of requests that the WAF refused'),
  wafMonitored: Values.describe('Of requests that the WAF would have refused if it did not only monitor'),
  blocked: z.literal(true).optional().describe('Only requests that a node refused'),
  protocol: z
    .array(z.enum(['ipv4', 'ipv6']))
    .min(1)
    .max(2)
    .optional(),
});
/** Filters read single requests, so they are for short times. */
export const MAX_FILTERED_MS = LONGEST_DAY_MS;

/** Which requests: all that the caller may see, unless narrowed. */
export const Selection = z.object({
  siteIDs: z.array(Id).max(20).optional(),
  tags: z.array(z.string().max(64)).max(20).optional().describe('Sites with any of these tags'),
  domains: z.array(z.string().max(253)).max(50).optional().describe('Names of domains'),
  filters: StatisticsFilters.optional().describe('For at most one day, while single requests are stored'),
  noSite: NoSite,
  timeInterval: TimeInterval.default('oneDay').describe(
    'Months are calendar months of UTC+8, by which traffic is billed',
  ),
  startTime: Time.optional().describe('Of `custom`'),
  endTime: Time.optional().describe('Of `custom`'),
  timeZone: TimeZone,
});
type Selected = z.output<typeof Selection>;
export const withCustomTimes = <
  S extends z.ZodType<
    Pick<Selected, 'timeInterval' | 'startTime' | 'endTime'> &
      Partial<Pick<Selected, 'noSite' | 'siteIDs' | 'tags' | 'domains'>>
  >,
>(
  schema: S,
) =>
  schema.superRefine((selection, ctx) => {
    checkNoSite(selection, ctx);
    const { timeInterval, startTime, endTime } = selection;
    if (timeInterval !== 'custom') return;
    if (startTime === undefined) ctx.addIssue({ code: 'custom', path: ['startTime'], message: 'required' });
    if (endTime === undefined) ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'required' });
    if (startTime === undefined || endTime === undefined) return;
    if (endTime <= startTime) ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'after the start' });
    else if (endTime.getTime() - startTime.getTime() > LONGEST_DAYS[1440] * DAY_MS + HOUR_MS)
      ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'at most 366 days' });
  });

export const StatisticsQuery = withCustomTimes(Selection);
export const Cards = z.object({
  from: Time,
  to: Time,
  data: z.array(
    z.object({
      type: z
        .literal(Object.values(cardTypes))
        .describe('3 bytes, 4 requests, 5 share from the cache (0 to 1), 14 addresses, 15 bits per second'),
      from: Time.describe('Earlier than asked for addresses, which are counted by the hour'),
      to: Time.describe('Later than asked for addresses. Then the value is the most that there may have been'),
      value: z.number().nullable().describe('Null: not measured, or a part of the time is not kept any more'),
      isEstimate: z.boolean().describe('Of more than 256 addresses, with a standard error of 1.6 %'),
      previous: z
        .number()
        .nullable()
        .describe('Of the same time before. Null for addresses unless that is of whole hours'),
    }),
  ),
});

export const SeriesQuery = withCustomTimes(
  Selection.extend({
    types: z
      .array(z.literal(Object.values(seriesTypes)))
      .min(1)
      .max(4)
      .default([2]),
    reportInterval: ReportInterval.default(5).describe(
      'Minutes. Steps are longer if sums of them are not kept any more',
    ),
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
      name: z.enum(['bandwidth', 'traffic', '2xx', '3xx', '4xx', '5xx', '9xx', 'ipv4', 'ipv6', 'passed', 'blocked']),
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
/** The database that the countries of requests are from, whose license may require a credit. */
export const CountrySource = z
  .enum(['bundled', 'own'])
  .describe('The bundled database, or the one of GEOIP_COUNTRY_FILE. It is that of lines that are stored now');
export type CountrySource = z.output<typeof CountrySource>;

export const Top = z.object({
  type: z.literal(Object.values(topTypes)),
  from: Time.describe('Later than asked if older values are not kept any more'),
  to: Time,
  data: z.array(
    z.object({
      value: z.string(),
      requests: z.int(),
      bytes: z.int(),
      error: z.int().describe('By how many requests the count may be too low; 0: exact'),
    }),
  ),
  total: z.object({ requests: z.int(), bytes: z.int() }).describe('Of all values'),
  countrySource: CountrySource.optional().describe('Of countries only'),
});

const RankSelection = Selection.extend({
  page: z.int().min(1).default(1),
  pageSize: z.int().min(1).max(500).default(25),
  sortBy: z.enum(['requests', 'traffic', 'hitRate', 'errors']).default('requests'),
  orderBy: z.enum(['asc', 'desc']).default('desc'),
});
export const RankQuery = withCustomTimes(RankSelection);
export const RankExportQuery = withCustomTimes(
  RankSelection.extend({ language: Language.default('en').describe('Of the rows that are no domain') }),
);
export const Rank = paged(
  z.object({
    siteID: Id.nullable().describe('Null: requests of no site (`noSite`)'),
    siteName: z.string().describe('With `noSite`: of the zone'),
    domainID: Id.nullable().describe('Null: the removed domains of the site, or its requests without a domain'),
    domain: z.string().describe('Empty if domainID is null'),
    isRemoved: z.boolean(),
    requests: z.int(),
    traffic: z.int().describe('Bytes'),
    hitRate: z.number().nullable(),
    toUpstream: z.int(),
    errors: z.int().describe('Responses of 4xx, 5xx and 9xx'),
  }),
).extend({ domains: z.int().describe('Rows that are a domain, on all pages') });

export const QpsQuery = z
  .object({
    siteIDs: z.array(Id).max(1000).optional(),
    noSite: NoSite,
    from: Time.optional().describe('Six hours ago'),
    to: Time.optional().describe('Now'),
  })
  .superRefine(checkNoSite);
export const Qps = z.object({
  stepSeconds: z.int(),
  times: z.array(Time),
  values: z.array(z.number().nullable()).describe('Requests per second in steps of five minutes'),
});

export const HourlyBandwidth = z.object({
  times: z.array(Time).describe('The last 24 hours'),
  data: z.array(
    z.object({ id: Id, values: z.array(z.number().nullable()).describe('Bits per second. Null: not measured') }),
  ),
});
export type HourlyBandwidth = z.output<typeof HourlyBandwidth>;
/** A page of a list has at most this many sites. */
export const SiteBandwidthQuery = z.object({
  siteIDs: z.array(Id).min(1).max(500),
});

export const RuleMatches = z.object({
  isMeasured: z
    .boolean()
    .describe('False if no node of the zone reported requests, or if the figures of a part of the time are not known'),
  data: z
    .array(
      z.object({
        ruleID: Id,
        requests: z.number().describe('That the rule matched'),
        wouldBlock: z
          .number()
          .nullable()
          .describe(
            'Of these, that the rule would have refused, challenged or redirected if it did not only monitor. Null: not known of a part of the time',
          ),
      }),
    )
    .describe('Requests of the last 24 hours. Rules without any are absent'),
});

export type RuleMatches = z.output<typeof RuleMatches>;
export type StatisticsFilters = z.output<typeof StatisticsFilters>;
export type TimeInterval = z.output<typeof TimeInterval>;
export type ReportInterval = z.output<typeof ReportInterval>;
export type StatisticsQuery = z.output<typeof StatisticsQuery>;
export type SeriesQuery = z.output<typeof SeriesQuery>;
export type TopQuery = z.output<typeof TopQuery>;
export type RankQuery = z.output<typeof RankQuery>;
export type RankExportQuery = z.output<typeof RankExportQuery>;
export type QpsQuery = z.output<typeof QpsQuery>;
export type TimeSeries = z.output<typeof TimeSeries>;
export type Cards = z.output<typeof Cards>;
export type Top = z.output<typeof Top>;
export type Rank = z.output<typeof Rank>;
export type Qps = z.output<typeof Qps>;
