import { time } from '../../lib/format.ts';

const minuteOf = (at: Date) => {
  const text = time(at);
  return { day: text.slice(5, 10), minute: text.slice(11, 16) };
};

/** The hours of a count, until now at most, short enough for a card: only with days that the reader must know. */
export function countedHours({ from, to }: { from: string; to: string }, now: Date): string {
  const [start, end] = [minuteOf(new Date(from)), minuteOf(new Date(Math.min(Date.parse(to), now.getTime())))];
  const isOneDay = start.day === end.day;
  const first = isOneDay && start.day === minuteOf(now).day ? start.minute : `${start.day} ${start.minute}`;
  const last = isOneDay ? end.minute : `${end.day} ${end.minute}`;
  // Unbroken, so that a line breaks before the times.
  return `${first} – ${last}`.replaceAll(' ', '\u00a0');
}
