import { startOfDay } from '@edgeloom/contract/common/calendar.ts';
import { consoleZone } from '../../lib/format.ts';
import { instant } from './instant.ts';
import type { Period } from './period.ts';
import type { Series } from './series-drawings.ts';

const DAY_SECONDS = 86_400;
type Steps = Pick<Series, 'from' | 'to' | 'times' | 'stepSeconds'>;

/** How far back the compared period begins: calendar days before calendar days, otherwise the period's length. */
export function shiftOf({ from, to, stepSeconds }: Steps, { interval }: Period): number {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  if (stepSeconds === DAY_SECONDS) {
    const days = Math.max(1, Math.round((end - start) / (DAY_SECONDS * 1000)));
    return start - startOfDay(start, consoleZone(), -days);
  }
  if (interval !== 'today' && interval !== 'yesterday') return end - start;
  const day = startOfDay(end - 1, consoleZone());
  return day - startOfDay(day, consoleZone(), -1);
}

export function periodBefore(series: Steps | undefined, period: Period) {
  if (series === undefined || series.times.length === 0) return {};
  const [from, to] = [Date.parse(series.from), Date.parse(series.to)];
  const shift = shiftOf(series, period);
  // A shorter day before a longer one ends where that one begins.
  const end = Math.min(from, to - shift);
  return { timeInterval: 'custom', startTime: instant(from - shift), endTime: instant(end) } as const;
}
