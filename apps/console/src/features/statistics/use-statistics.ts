import type { ReportInterval, TimeInterval } from '@edgeloom/contract/statistics/statistics.ts';
import { useEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { family } from '../../lib/family.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { filterKinds, filtersOf, type FilterKind } from './filters.ts';
import { instant } from './instant.ts';
import { intervals, isShort, periodOf, shortened, stepsOf, usualStep, type Period } from './period.ts';

interface Options {
  offered?: readonly TimeInterval[];
  fallback?: TimeInterval;
}

const MINUTE_MS = 60_000;

/** The current minute. */
function useMinute(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Period, report interval and selection of a page, all stored in the URL. */
export function useStatistics({ offered = intervals, fallback = 'oneDay' }: Options = {}) {
  const [search, setSearch] = useSearchParams();
  const now = useMinute();
  const timeZone = usePreferences((preferences) => preferences.timeZone) ?? ownZone;
  const key = search.toString();

  const read = useMemo(() => {
    const params = new URLSearchParams(key);
    const filters = filtersOf(params);
    const isFiltered = Object.keys(filters).length > 0;
    const chosen = periodOf(params, offered, fallback);
    const period = isFiltered ? shortened(chosen) : chosen;
    // The zones' own requests, which customers do not see.
    const noSite = family === 'client' && params.get('noSite') === '1';
    const valuesOf = (name: string) => (noSite ? [] : params.getAll(name));
    const [sites, tags, domains] = [valuesOf('site'), valuesOf('tag'), valuesOf('domain')];
    return {
      period,
      sites,
      tags,
      domains,
      noSite,
      filters,
      isFiltered,
      query: {
        timeZone,
        timeInterval: period.interval,
        ...(period.startTime !== undefined && { startTime: period.startTime }),
        ...(period.endTime !== undefined && { endTime: period.endTime }),
        ...(sites.length > 0 && { siteIDs: sites }),
        ...(tags.length > 0 && { tags }),
        ...(domains.length > 0 && { domains }),
        ...(noSite && { noSite: true as const }),
        ...(isFiltered && { filters }),
      },
    };
  }, [key, offered, fallback, timeZone]);
  const validSteps = stepsOf(read.period, now);
  const reportInterval: ReportInterval =
    validSteps.find((step) => String(step) === search.get('step')) ?? usualStep(read.period, now);

  // Each change adds a history entry, so that Back restores the former view.
  const change = (changes: Readonly<Record<string, string | readonly string[] | null>>, keepPage = false) => {
    const after = new URLSearchParams(search);
    if (!keepPage) after.delete('page');
    for (const [name, value] of Object.entries(changes)) {
      after.delete(name);
      for (const one of [value ?? []].flat()) after.append(name, one);
    }
    if (after.toString() !== search.toString()) setSearch(after);
  };

  return {
    ...read,
    now,
    validSteps,
    reportInterval,
    offered: read.isFiltered ? offered.filter(isShort) : offered,
    search,
    change,
    /** The page's search with only this value of a kind, or without the kind. */
    withFilter: (kind: FilterKind, value: string | null): string => {
      const after = new URLSearchParams(search);
      for (const name of [kind, 'page']) after.delete(name);
      if (value !== null) after.set(kind, value);
      return `?${after}`;
    },
    clearFilters: () => change(Object.fromEntries(filterKinds.map((kind) => [kind, null]))),
    setPeriod: ({ interval, startTime, endTime }: Period) =>
      change({
        range: interval === fallback ? null : interval,
        from: startTime ?? null,
        to: endTime ?? null,
        step: null,
      }),
    zoom: (from: number, to: number) => change({ range: 'custom', from: instant(from), to: instant(to), step: null }),
  };
}
export type Statistics = ReturnType<typeof useStatistics>;

const POLL_MS = 300_000;
/** Periods that end now are read again every five minutes. */
export const pollOf = ({ interval }: Period) =>
  interval === 'custom' || interval === 'yesterday' || interval === 'lastMonth' ? undefined : POLL_MS;
