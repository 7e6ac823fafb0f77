// Steps in as few calls as a vendor's limits allow.

/** More names than this at once: the zone is listed as a whole instead of name by name. */
export const LOOKED_UP_SINGLY = 10;

/** What is in one group goes out in one call. */
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
