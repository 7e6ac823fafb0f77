// Groups changes into as few calls as a vendor's limits allow.

/** Above this number of names the whole zone is listed at once. */
export const MAX_SINGLE_LOOKUPS = 10;

/** A group is never split over two calls. */
export function intoBatches<Step>(
  groups: Iterable<readonly Step[]>,
  fits: (batch: readonly Step[]) => boolean,
): Step[][] {
  const batches: Step[][] = [];
  let batch: Step[] = [];
  for (const group of groups) {
    if (batch.length > 0 && !fits([...batch, ...group])) {
      batches.push(batch);
      batch = [];
    }
    batch = [...batch, ...group];
  }
  return batch.length > 0 ? [...batches, batch] : batches;
}
