// Groups changes into as few calls as a vendor's limits allow.

/** Above this number of names the whole zone is listed at once. */
export const LOOKED_UP_SINGLY = 10;

/** A group is never split over two calls. */
export function inPacks<Step>(groups: Iterable<readonly Step[]>, fits: (pack: readonly Step[]) => boolean): Step[][] {
  const packs: Step[][] = [];
  let pack: Step[] = [];
  for (const group of groups) {
    if (pack.length > 0 && !fits([...pack, ...group])) {
      packs.push(pack);
      pack = [];
    }
    pack = [...pack, ...group];
  }
  return pack.length > 0 ? [...packs, pack] : packs;
}
