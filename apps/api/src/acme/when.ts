// When a certificate is ordered again.
const HOUR_MS = 3_600_000;

/** At a third of its life left, and somewhat before: a thousand that began together do not end together. */
export function renewAt({ notBefore, notAfter }: { notBefore: Date; notAfter: Date }, chance: number): Date {
  const life = notAfter.getTime() - notBefore.getTime();
  return new Date(notAfter.getTime() - life / 3 - (life / 30) * chance);
}

/** After 1, 6 and 24 hours, then each 24, and up to a tenth later. */
export function retryAt(now: Date, failures: number, atLeastSeconds: number, chance: number): Date {
  const hours = failures <= 1 ? 1 : failures === 2 ? 6 : 24;
  const wait = Math.max(hours * HOUR_MS, atLeastSeconds * 1000);
  return new Date(now.getTime() + wait * (1 + chance / 10));
}
