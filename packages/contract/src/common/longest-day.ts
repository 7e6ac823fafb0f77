/** A day has this length where the clocks go back by an hour. */
export const LONGEST_DAY_MS = 25 * 3_600_000;
