// Calendar days of time zones. A day has 23 to 25 hours where the clocks change, and may begin later than at midnight.
import { Temporal } from 'temporal-polyfill';

/** The start of the day of a time, or of a day before or after it. Times are in milliseconds since 1970. */
export const startOfDay = (at: number, timeZone: string, days = 0): number =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(timeZone).add({ days }).startOfDay()
    .epochMilliseconds;

/** Traffic is billed by months of this zone, wherever the reader is. */
export const MONTH_ZONE = '+08:00';

/** The start of the billed month of a time, or of a month before or after it. */
export const startOfMonth = (at: number, months = 0): number =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at))
    .toZonedDateTimeISO(MONTH_ZONE)
    .with({ day: 1 })
    .add({ months })
    .startOfDay().epochMilliseconds;

/** False for names that Intl knows and Temporal refuses: PST, JST. */
export function isTimeZone(name: string): boolean {
  try {
    return Number.isInteger(startOfDay(0, name));
  } catch {
    return false;
  }
}
