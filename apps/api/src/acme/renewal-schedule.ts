// Renewal and retry times.
const HOUR_MS = 3_600_000;

/** At a third of the remaining lifetime, with jitter so that certificates issued together do not renew together. */
export function renewAt({ notBefore, notAfter }: { notBefore: Date; notAfter: Date }, chance: number): Date {
  const life = notAfter.getTime() - notBefore.getTime();
  return new Date(notAfter.getTime() - life / 3 - (life / 30) * chance);
}

/** The first retry comes within this time, if the authority asked for no longer one. */
export const MAX_FIRST_RETRY_MS = HOUR_MS * 1.1;

/** After 1, 6 and 24 hours, then every 24, plus up to a tenth. */
export function retryAt(now: Date, failures: number, atLeastSeconds: number, chance: number): Date {
  const hours = failures <= 1 ? 1 : failures === 2 ? 6 : 24;
  const wait = Math.max(hours * HOUR_MS, atLeastSeconds * 1000);
  return new Date(now.getTime() + wait * (1 + chance / 10));
}
