// Calendar days of time zones. A day has 23 to 25 hours where the clocks change, and may begin later than at midnight.
import { Temporal } from 'temporal-polyfill';

/** The start of the day of a time, or of a day before or after it. Times are in milliseconds since 1970. */
export const startOfDay = (at: number, timeZone: string, days = 0): number =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(timeZone).add({ days }).startOfDay()
    .epochMilliseconds;

const MONTH_OFFSET_HOURS = 8;
const MONTH_OFFSET_MS = MONTH_OFFSET_HOURS * 3_600_000;
/** Traffic is billed by months of this zone, wherever the reader is. It has no daylight saving time. */
export const MONTH_ZONE = `+${String(MONTH_OFFSET_HOURS).padStart(2, '0')}:00`;

/** The start of the billed month that is `months` after the one of `at`. Arithmetic, since bills call it by hour. */
export function startOfMonth(at: number, months = 0): number {
  const local = new Date(at + MONTH_OFFSET_MS);
  return Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + months) - MONTH_OFFSET_MS;
}

/** False for names that Intl knows and Temporal refuses: PST, JST. */
export function isTimeZone(name: string): boolean {
  try {
    return Number.isInteger(startOfDay(0, name));
  } catch {
    return false;
  }
}
