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
  const steps = Math.max(1, Math.round((end - start) / (stepSeconds * 1000)));
  if (stepSeconds === DAY_SECONDS) return start - startOfDay(start, consoleZone(), -steps);
  if (interval !== 'today' && interval !== 'yesterday') return steps * stepSeconds * 1000;
  const day = startOfDay(end - 1, consoleZone());
  return day - startOfDay(day, consoleZone(), -1);
}

export function periodBefore(series: Steps | undefined, period: Period) {
  const [text] = series?.times ?? [];
  if (series === undefined || text === undefined) return {};
  const first = Date.parse(text);
  const start = first - shiftOf(series, period);
  // A shorter day before a longer one ends where that one begins.
  const end = Math.min(first, start + series.times.length * series.stepSeconds * 1000);
  return { timeInterval: 'custom', startTime: instant(start), endTime: instant(end) } as const;
}
