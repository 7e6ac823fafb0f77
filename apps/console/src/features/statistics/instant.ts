const MINUTE_MS = 60_000;

/** A whole number of minutes, so that the URL stays short. */
export const instant = (at: number) => new Date(Math.round(at / MINUTE_MS) * MINUTE_MS).toISOString();
