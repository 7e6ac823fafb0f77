const DAY_MS = 86_400_000;
/** Days before a site's expiry of the notices, in ascending order. */
export const NOTICE_DAYS = [1, 7, 30] as const;

/** The last notice that is due, in days before the expiry. Null: none yet. */
export const dueNotice = (expiry: Date, now: Date): number | null =>
  NOTICE_DAYS.find((days) => expiry.getTime() - now.getTime() <= days * DAY_MS) ?? null;
