// Months of bills: those of UTC+8, in every time zone of readers.
export interface Month {
  year: number;
  /** 1 to 12. */
  month: number;
}

const OFFSET_MS = 8 * 3_600_000;

/** `now`: in milliseconds since 1970. */
export function currentMonth(now: number): Month {
  const local = new Date(now + OFFSET_MS);
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1 };
}

/** The newest first. */
export const monthsUntil = ({ year, month }: Month, count: number): Month[] =>
  Array.from({ length: count }, (_, back) => {
    const index = year * 12 + month - 1 - back;
    return { year: Math.floor(index / 12), month: (index % 12) + 1 };
  });

export const monthName = ({ year, month }: Month) => `${year}/${String(month).padStart(2, '0')}`;
