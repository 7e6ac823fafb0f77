// Calendar months of bills: in UTC+8, which has no daylight saving time. They begin at a full hour of UTC.

const HOUR_MS = 3_600_000;
const OFFSET_MS = 8 * HOUR_MS;

export interface BillingMonth {
  year: number;
  /** 1 to 12. */
  month: number;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
}

export const billingMonth = (year: number, month: number): BillingMonth => ({
  year,
  month,
  from: Date.UTC(year, month - 1) - OFFSET_MS,
  to: Date.UTC(year, month) - OFFSET_MS,
});

/** The month that holds a time, in milliseconds since 1970. */
export function monthOf(time: number): BillingMonth {
  const local = new Date(time + OFFSET_MS);
  return billingMonth(local.getUTCFullYear(), local.getUTCMonth() + 1);
}
