// State of the page: period, filters, open request. All of it is in the URL.
import { LONGEST_DAY_MS } from '@edgeloom/contract/common/longest-day.ts';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import type { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { savedSearches } from '@edgeloom/contract/saved-searches/saved-searches.endpoints.ts';
import { CacheStatus } from '@edgeloom/contract/logs/logs.ts';

const MINUTE_MS = 60_000;

/** Periods that end now, in minutes. */
const lastMinutes = { '15m': 15, '1h': 60, '6h': 360, '24h': 1440 } as const;
export type LastPeriod = keyof typeof lastMinutes;
export const lastPeriods: readonly LastPeriod[] = ['15m', '1h', '6h', '24h'];
export type Period = { last: LastPeriod } | { from: string; to: string };

/** Filters with a negative form. */
const negatable = [
  'domains',
  'host',
  'uri',
  'status',
  'remoteIP',
  'method',
  'cacheStatus',
  'cause',
  'rule',
  'country',
  'userAgent',
  'referer',
  'nodeIDs',
] as const;
const filterKeys = ['siteIDs', 'noSite', ...negatable, 'reqID'] as const;
export type FilterKey = (typeof filterKeys)[number];
export const isNegatable = (key: FilterKey) => negatable.some((name) => name === key);

export type Values = Readonly<Partial<Record<FilterKey, readonly string[]>>>;
export interface LogState {
  period: Period;
  only: Values;
  not: Values;
  /** ID of the open request. */
  request: string | null;
  /** New requests as they come, instead of a period. */
  isLive: boolean;
}

const isLast = (text: string | null): text is LastPeriod => text !== null && text in lastMinutes;
const isTime = (text: string | null): text is string => text !== null && !Number.isNaN(Date.parse(text));

function periodOf(search: URLSearchParams): Period {
  const [last, from, to] = [search.get('last'), search.get('from'), search.get('to')];
  if (isTime(from) && isTime(to)) return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return { last: isLast(last) ? last : '1h' };
}

const parameter = (key: FilterKey, isNot: boolean) => (isNot ? `not.${key}` : key);

function valuesOf(search: URLSearchParams, isNot: boolean): Values {
  return Object.fromEntries(
    filterKeys.flatMap((key) => {
      const values = search.getAll(parameter(key, isNot)).filter((value) => value !== '');
      return values.length > 0 && (!isNot || isNegatable(key)) ? [[key, values]] : [];
    }),
  );
}

export const readState = (search: URLSearchParams): LogState => ({
  period: periodOf(search),
  only: valuesOf(search, false),
  not: valuesOf(search, true),
  request: search.get('request'),
  isLive: search.get('live') === 'true',
});

export function withPeriod(search: URLSearchParams, period: Period): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const name of ['last', 'from', 'to']) next.delete(name);
  if (!('last' in period)) {
    next.set('from', period.from);
    next.set('to', period.to);
  } else if (period.last !== '1h') next.set('last', period.last);
  return next;
}

/** Requests of no known site have neither a site nor a domain. */
function excludedBy(key: FilterKey, isNot: boolean): FilterKey[] {
  if (key === 'noSite') return ['siteIDs', 'domains'];
  return !isNot && (key === 'siteIDs' || key === 'domains') ? ['noSite'] : [];
}

export function withFilter(search: URLSearchParams, key: FilterKey, isNot: boolean, values: readonly string[]) {
  const next = new URLSearchParams(search);
  next.delete(parameter(key, isNot));
  if (values.length > 0) for (const other of excludedBy(key, isNot)) next.delete(other);
  for (const value of new Set(values)) next.append(parameter(key, isNot), value);
  return next;
}

export function withoutFilters(search: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const key of filterKeys) for (const isNot of [false, true]) next.delete(parameter(key, isNot));
  return next;
}

export function withRequest(search: URLSearchParams, id: string | null): URLSearchParams {
  const next = new URLSearchParams(search);
  if (id === null) next.delete('request');
  else next.set('request', id);
  return next;
}

export function withLive(search: URLSearchParams, isLive: boolean): URLSearchParams {
  const next = withRequest(search, null);
  if (isLive) next.set('live', 'true');
  else next.delete('live');
  return next;
}

export type PeriodFault = 'order' | 'tooLong';
/** Why the API would refuse the period. */
export function faultOfPeriod(period: Period): PeriodFault | null {
  if ('last' in period) return null;
  const ms = Date.parse(period.to) - Date.parse(period.from);
  if (ms <= 0) return 'order';
  return ms > LONGEST_DAY_MS ? 'tooLong' : null;
}

export interface TimeWindow {
  startTime: string;
  endTime: string;
}
export const currentWindow = (period: Period) => windowOf(period, Date.now());

export function windowOf(period: Period, now: number): TimeWindow {
  if (!('last' in period)) return { startTime: period.from, endTime: period.to };
  const start = now - lastMinutes[period.last] * MINUTE_MS;
  return { startTime: new Date(start).toISOString(), endTime: new Date(now).toISOString() };
}

/** Whether filters apply that statistics do not have. */
export const hasRowFilters = ({ only, not }: LogState) =>
  Object.keys(not).length > 0 || Object.keys(only).some((key) => !['siteIDs', 'domains', 'noSite'].includes(key));
export const hasFilters = ({ only, not }: LogState) => Object.keys(not).length + Object.keys(only).length > 0;

type SavedFilter = Sent<typeof savedSearches.create>['body']['filter'];
type Body = Sent<typeof logs.access>['body'];
type Filters = NonNullable<Body['not']>;

const listOf = (values: readonly string[] | undefined) => values && [...values];

function filtersOf(values: Values): Filters {
  const cacheStatus = CacheStatus.options.filter((option) => values.cacheStatus?.includes(option));
  return {
    domains: listOf(values.domains),
    host: listOf(values.host),
    uri: listOf(values.uri),
    status: listOf(values.status),
    remoteIP: listOf(values.remoteIP),
    method: listOf(values.method),
    cacheStatus: cacheStatus.length > 0 ? cacheStatus : undefined,
    cause: listOf(values.cause),
    rule: listOf(values.rule),
    country: listOf(values.country),
    userAgent: listOf(values.userAgent),
    referer: listOf(values.referer),
    nodeIDs: listOf(values.nodeIDs),
  };
}

/** The search with these filters, as it is saved. */
export function withSaved(search: URLSearchParams, { not, ...only }: SavedFilter): URLSearchParams {
  let next = withoutFilters(search);
  for (const [isNot, values] of [
    [false, only],
    [true, not ?? {}],
  ] as const)
    for (const key of filterKeys) {
      const value: unknown = Object.entries(values).find(([name]) => name === key)?.[1];
      if (value !== undefined) next = withFilter(next, key, isNot, [value].flat().map(String));
    }
  return next;
}

/** The query without its times. */
export const questionOf = ({ only, not }: LogState): Omit<Body, 'startTime' | 'endTime'> => ({
  ...filtersOf(only),
  siteIDs: listOf(only.siteIDs),
  noSite: only.noSite && true,
  reqID: only.reqID?.[0],
  not: Object.keys(not).length > 0 ? filtersOf(not) : undefined,
});
