// A site's firewall as nodes read it.
import { rangeOf, type AddressRange } from '@edgeloom/contract/common/address-ranges.ts';
import { comparedListURL, methods } from '@edgeloom/contract/firewall/firewall.ts';
import type { ListDoc, SiteDoc, ZoneListsDoc } from '@edgeloom/contract/edge/documents.ts';

export interface ListRow {
  id: string;
  value: string[];
  expires: { ip: string; at: string }[];
}
interface Interval {
  first: bigint;
  last: bigint;
  /** Seconds. 0: for ever. */
  until: number;
}

export function listDoc({ id, value, expires }: ListRow): ListDoc {
  const ends = new Map(expires.map(({ ip, at }) => [ip, Math.ceil(new Date(at).getTime() / 1000)]));
  const ranges: (AddressRange & { until: number })[] = [];
  for (const ip of value) {
    const range = rangeOf(ip);
    if (range) ranges.push({ ...range, until: ends.get(ip) ?? 0 });
  }
  const of = (family: 4 | 6) => encoded(disjoint(ranges.filter((range) => range.family === family)), family);
  return { kind: 'list', id, four: of(4), six: of(6) };
}

/** Where entries overlap, the one that holds longest counts. At most two intervals per entry, and one more. */
function disjoint(ranges: readonly Interval[]): Interval[] {
  const bounds = [...new Set(ranges.flatMap(({ first, last }) => [first, last + 1n]))].sort(ascending);
  const places = new Map(bounds.map((bound, i) => [bound, i]));
  const until = bounds.map(() => -1);
  // The next cell that has no value yet. Path compression keeps the walk linear.
  const next = bounds.map((_, i) => i);
  const free = (from: number) => {
    let at = from;
    while (at < next.length && (next[at] ?? at) !== at) at = next[at] ?? at;
    for (let i = from; i < at;) {
      const following = next[i] ?? at;
      next[i] = at;
      i = following;
    }
    return at;
  };
  for (const range of ranges.toSorted((a, b) => rankOf(b) - rankOf(a))) {
    const end = places.get(range.last + 1n) ?? 0;
    for (let at = free(places.get(range.first) ?? 0); at < end; at = free(at)) {
      until[at] = range.until;
      next[at] = at + 1;
    }
  }
  const intervals: Interval[] = [];
  for (const [i, first] of bounds.entries()) {
    const ends = until[i] ?? -1;
    if (ends < 0) continue;
    const last = (bounds[i + 1] ?? first) - 1n;
    const before = intervals.at(-1);
    if (before && before.until === ends && before.last + 1n === first) before.last = last;
    else intervals.push({ first, last, until: ends });
  }
  return intervals;
}
const ascending = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));
const rankOf = ({ until }: Interval) => (until === 0 ? Infinity : until);

function encoded(intervals: readonly Interval[], family: 4 | 6): ListDoc['four'] {
  const digits = family === 4 ? 8 : 32;
  const bytes = (of: (interval: Interval) => bigint) =>
    Buffer.from(intervals.map((one) => of(one).toString(16).padStart(digits, '0')).join(''), 'hex').toString('base64');
  const until = Buffer.alloc(4 * intervals.length);
  for (const [i, interval] of intervals.entries()) until.writeUInt32LE(interval.until, 4 * i);
  return {
    first: bytes(({ first }) => first),
    last: bytes(({ last }) => last),
    ...(intervals.some((one) => one.until > 0) && { until: until.toString('base64') }),
  };
}

/** The list with those ranges only that have one of these addresses. */
export function narrowList({ four, six, ...doc }: ListDoc, addresses: readonly string[]): ListDoc {
  const ranges = addresses.flatMap((address) => rangeOf(address) ?? []);
  const of = (family: 4 | 6) => ranges.flatMap((range) => (range.family === family ? [range.first] : []));
  return { ...doc, four: narrowRanges(four, 4, of(4)), six: narrowRanges(six, 16, of(6)) };
}

function narrowRanges(doc: ListDoc['four'], width: 4 | 16, addresses: readonly bigint[]): ListDoc['four'] {
  const bytesOf = (text: string) => Buffer.from(text, 'base64');
  const [first, last] = [bytesOf(doc.first), bytesOf(doc.last)];
  const indexes = new Set<number>();
  for (const address of addresses) {
    const bytes = Buffer.from(address.toString(16).padStart(2 * width, '0'), 'hex');
    const i = lastAtMost(first, width, bytes);
    if (i >= 0 && bytes.compare(last, i * width, (i + 1) * width) <= 0) indexes.add(i);
  }
  const sorted = [...indexes].sort((a, b) => a - b);
  const pick = (bytes: Buffer, size: number) =>
    Buffer.concat(sorted.map((i) => bytes.subarray(i * size, (i + 1) * size))).toString('base64');
  return {
    first: pick(first, width),
    last: pick(last, width),
    ...(doc.until !== undefined && { until: pick(bytesOf(doc.until), 4) }),
  };
}

/** The index of the last item of `width` bytes that is not above `bytes`. -1: none. The items are sorted. */
function lastAtMost(items: Buffer, width: number, bytes: Buffer): number {
  let [low, high] = [0, items.length / width];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bytes.compare(items, middle * width, (middle + 1) * width) >= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export interface ListRefRow {
  id: string;
  isBlack: boolean;
  urls: string[];
  methods: string[];
  monitor: boolean;
}
const refDocs = (rows: readonly ListRefRow[]): ZoneListsDoc['lists'] =>
  rows.map(({ id, isBlack, urls, methods: some, monitor }) => ({
    id,
    isBlack,
    ...(urls.length > 0 && { urls: urls.map(comparedListURL) }),
    ...(some.length > 0 && some.length < methods.length && { methods: some }),
    ...(monitor && { monitor }),
  }));
export const listRefDocs = (rows: readonly ListRefRow[]): Partial<SiteDoc> => ({ lists: refDocs(rows) });
/** Null: the zone has none. */
export const zoneListsDoc = (rows: readonly ListRefRow[]): ZoneListsDoc | null =>
  rows.length === 0 ? null : { kind: 'zoneLists', lists: refDocs(rows) };

export interface ReactionRow {
  id: string;
  urlRegex: string;
  blockType: number;
  monitor: boolean;
  value: string[];
}
const reaction = ({ id, urlRegex, blockType, monitor }: ReactionRow) => ({
  id,
  ...(urlRegex !== '.*' && { url: urlRegex }),
  blockType,
  ...(monitor && { monitor }),
});
const idsOf = (geoIDs: readonly string[], kind: string) =>
  geoIDs.filter((id) => id.startsWith(`${kind}-`)).map((id) => id.slice(kind.length + 1));

export const geoDocs = (rows: readonly (ReactionRow & { isBlack: boolean })[]): Partial<SiteDoc> => ({
  geos: rows.map((row) => ({
    ...reaction(row),
    isBlack: row.isBlack,
    continents: idsOf(row.value, 'continent'),
    countries: idsOf(row.value, 'country'),
    provinces: idsOf(row.value, 'province'),
  })),
});

export const userAgentDocs = (rows: readonly ReactionRow[]): Partial<SiteDoc> => ({
  userAgents: rows.map((row) => ({ ...reaction(row), pattern: row.value[0] ?? '' })),
});
