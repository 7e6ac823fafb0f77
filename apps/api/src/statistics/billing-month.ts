// Calendar months of bills: in UTC+8, which has no daylight saving time. They begin at a full hour of UTC.
import { startOfMonth } from '@edgeloom/contract/common/calendar.ts';

export interface BillingMonth {
  year: number;
  /** 1 to 12. */
  month: number;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
}

const DAY_MS = 24 * 3_600_000;
const MID_MONTH = 15;

export function billingMonth(year: number, month: number): BillingMonth {
  const within = Date.UTC(year, month - 1, MID_MONTH);
  return { year, month, from: startOfMonth(within), to: startOfMonth(within, 1) };
}

/** The month that holds a time, in milliseconds since 1970. */
export function monthOf(time: number): BillingMonth {
  const within = new Date(startOfMonth(time) + MID_MONTH * DAY_MS);
  return billingMonth(within.getUTCFullYear(), within.getUTCMonth() + 1);
}

/** Late lines rarely come after this time. If they do, `recountFrom` of the usage ledger has the month recounted. */
const COUNTED_AFTER_DAYS = 7;
/** Usage of earlier months is counted. Clocks of processes differ, so lines count as late a day sooner. */
export const countedMonth = (now: number): number => monthOf(now - COUNTED_AFTER_DAYS * DAY_MS).from;
export const lateBefore = (now: number): number => monthOf(now - (COUNTED_AFTER_DAYS - 1) * DAY_MS).from;
