const FIRST_RETRY_MS = 5000;
const LAST_RETRY_MS = 60_000;

/** Delay in milliseconds before a failed page is reloaded: 5 s, doubling up to a minute. */
export const retryDelay = (failures: number) =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1), LAST_RETRY_MS);
