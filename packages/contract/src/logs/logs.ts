import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { LONGEST_DAY_MS } from '../common/longest-day.ts';
import { checkNoSite, NoSite } from '../statistics/statistics.ts';

/** A search counts this many of the newest matches. */
export const LOGS_COUNTED = 1000;

export const CacheStatus = z.enum(['HIT', 'MISS', 'EXPIRED', 'STALE', 'UPDATING', 'REVALIDATED', 'BYPASS', '-']);
const Part = z.string().min(1).max(512);
const Statuses = z
  .array(z.string().regex(/^(?:[2-59]xx|[1-9]\d\d)$/, '404 or 5xx'))
  .min(1)
  .max(50);
export const Addresses = z
  .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: 'an address or a network' }))
  .min(1)
  .max(50);

/** A row matches if it has one of the values of each filter. Text matches any part of its field and ignores case. */
const Filters = z.object({
  domains: z.array(z.string().max(253)).min(1).max(1000).optional().describe('Names of domains'),
  host: z
    .array(z.string().min(1).max(256))
    .min(1)
    .max(50)
    .optional()
    .describe('Whole host names, as they were requested'),
  remoteIP: Addresses.optional().describe('Addresses or networks'),
  cacheStatus: z.array(CacheStatus).min(1).max(8).optional().describe('`-`: not cacheable'),
  uri: z.array(Part).min(1).max(20).optional(),
  status: Statuses.optional().describe('404, or 5xx for a class'),
  method: z
    .array(z.string().regex(/^[A-Z]{1,16}$/))
    .min(1)
    .max(20)
    .optional(),
  country: z
    .array(z.string().regex(/^[A-Z]{2}$/))
    .min(1)
    .max(50)
    .optional()
    .describe('ISO 3166'),
  userAgent: z.array(Part).min(1).max(20).optional(),
  referer: z.array(Part).min(1).max(20).optional(),
  cause: z.array(z.string().max(32)).min(1).max(20).optional().describe('Why the node refused the request'),
  rule: z
    .array(z.string().min(1).max(128))
    .min(1)
    .max(100)
    .optional()
    .describe(
      'IDs of rules that decided, or would have: `monitor/` and an ID selects requests that were only monitored',
    ),
  nodeIDs: z.array(Id).min(1).max(100).optional(),
});
export type LogFilters = z.output<typeof Filters>;

/** A search without its time. */
export const LogFilter = Filters.extend({
  siteIDs: z.array(Id).max(1000).optional(),
  noSite: NoSite,
  reqID: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  not: Filters.optional().describe('Leaves out rows with any of these values'),
});
export type LogFilter = z.output<typeof LogFilter>;
export const LogSearch = LogFilter.extend({ startTime: Time, endTime: Time });
export type LogSearch = z.output<typeof LogSearch>;

export const LogDaySearch = LogSearch.superRefine(checkNoSite).superRefine(withinOneDay);

export const logPaging = {
  before: z
    .object({ time: Time, id: z.string().regex(/^[0-9a-f]{32}$/) })
    .optional()
    .describe('Only rows older than this one, to read on after the last counted page'),
  until: Time.optional().describe(
    'Only rows before this time: `reached` of a search that ended early continues there, as a first page',
  ),
  mayEndEarly: z
    .boolean()
    .default(false)
    .describe('Ends a search that takes long with what it found, and `reached`. Otherwise it ends after 20 seconds'),
  page: z.int().min(1).max(LOGS_COUNTED).default(1),
  pageSize: z.int().min(1).max(500).default(25),
};

export const LogQuery = LogSearch.extend(logPaging)
  .superRefine(checkNoSite)
  .superRefine(checkUntil)
  .superRefine(withinOneDay);
export type LogQuery = z.output<typeof LogQuery>;

/** Earlier pages would be of another search. */
export function checkUntil({ until, page }: { until?: Date | undefined; page: number }, ctx: z.RefinementCtx): void {
  if (until !== undefined && page > 1) ctx.addIssue({ code: 'custom', path: ['until'], message: 'on page 1 only' });
}

export function withinOneDay({ startTime, endTime }: { startTime: Date; endTime: Date }, ctx: z.RefinementCtx): void {
  if (endTime <= startTime) ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'after the start' });
  else if (endTime.getTime() - startTime.getTime() > LONGEST_DAY_MS)
    ctx.addIssue({ code: 'custom', path: ['endTime'], message: 'at most one day' });
}

/** One request. Times of processing are in milliseconds. */
export const LogRow = z.object({
  id: z.string().describe('Request ID, as in the response header X-Request-Id'),
  time: Time,
  siteID: Id.nullable().describe('Null: no known site'),
  siteName: z.string(),
  domainID: Id.nullable(),
  domain: z.string().describe('Empty: removed since'),
  nodeID: Id,
  nodeName: z.string().describe('Empty for customers, and if removed since'),
  host: z.string(),
  port: z.int(),
  address: z.string(),
  country: z.string().describe('ISO 3166; empty if unknown'),
  method: z.string(),
  scheme: z.string(),
  httpVersion: z.string(),
  uri: z.string(),
  args: z.string(),
  status: z.int(),
  bytes: z.int(),
  requestBytes: z.int(),
  requestTime: z.number(),
  upstreamTime: z.number().nullable().describe('Null: no origin was contacted'),
  upstream: z.string(),
  cacheStatus: z.string().describe('Empty: not cacheable'),
  userAgent: z.string(),
  referer: z.string(),
  cause: z.string(),
  rule: z.string(),
  ruleName: z.string().nullish().describe('Of an access rule or a script; only where one request is asked for'),
});
export type LogRow = z.output<typeof LogRow>;

export const LogPage = z.object({
  data: z.array(LogRow),
  total: z.int().describe(`Counted up to ${LOGS_COUNTED}; there may be more`),
  reached: Time.nullish().describe(
    'The search took too long, and ended before the start of the period: rows before this time were not read. Absent or null: it did not',
  ),
});
export type LogPage = z.output<typeof LogPage>;

/** JSON, since a query string has no nested fields. */
const FilterText = z.codec(
  z.string().max(50_000),
  LogFilter.omit({ siteIDs: true }).strict().superRefine(checkNoSite),
  {
    decode: (text, ctx) => {
      try {
        return JSON.parse(text);
      } catch {
        ctx.issues.push({ code: 'custom', input: text, message: 'not JSON' });
        return z.NEVER;
      }
    },
    encode: (filter) => JSON.stringify(filter),
  },
);
export const TailQuery = z
  .object({
    siteIDs: z.array(Id).max(100).optional(),
    filter: FilterText.optional().describe('The filters of POST logs/access as JSON'),
  })
  .superRefine(({ siteIDs, filter }, ctx) => checkNoSite({ noSite: filter?.noSite, siteIDs }, ctx));
export type TailQuery = z.output<typeof TailQuery>;

/** The most rows of one event. */
export const TAIL_ROWS = 200;
export const TailEvent = z.object({
  rows: z.array(LogRow).describe('Oldest first. Empty: the stream is alive'),
  dropped: z.int().describe('How many more matched and are left out, because there were too many for this reader'),
});
export type TailEvent = z.output<typeof TailEvent>;
