import { time } from '../../lib/format.ts';
import { timeLabel, type Drawing } from './series-option.ts';

/** Fewer steps would be as wide as the chart. */
const MIN_STEPS = 12;

/** A drawing without the steps before its first data, if these are most of it. `since`: when the data begins. */
export function trimLeadingGaps(drawing: Drawing): { drawing: Drawing; since: string | null } {
  const { times, stepSeconds, lines, previous } = drawing;
  const all = [...lines, ...(previous ? [previous] : [])];
  const first = times.findIndex((_, i) => all.some(({ values }) => (values[i] ?? null) !== null));
  const at = times[first];
  if (at === undefined || first < times.length / 2) return { drawing, since: null };
  const from = Math.min(first, Math.max(0, times.length - MIN_STEPS));
  const rest = <Part extends { values: Drawing['lines'][number]['values'] }>(part: Part) => ({
    ...part,
    values: part.values.slice(from),
  });
  return {
    drawing: { ...drawing, times: times.slice(from), lines: lines.map(rest), previous: previous && rest(previous) },
    since: timeLabel(times, stepSeconds)(time(at)),
  };
}
