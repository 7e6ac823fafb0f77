// Collects the entries of a fetched list, in one spelling and order, so that the same addresses are the same entries.
import { rangeOf, type AddressRange } from '@edgeloom/contract/common/address-ranges.ts';
import { MAX_REJECTED_LINES, type ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import ipaddr from 'ipaddr.js';
import { neverPublic } from '../core/outbound.ts';

export interface ParsedList {
  /** Without duplicates, in ascending order. */
  entries: ListEntry[];
  /** Lines or decisions without a usable entry. */
  rejected: number;
}
export interface ListEntry {
  text: string;
  /** When the entry ends, in milliseconds. Infinity: never. */
  until: number;
}
interface CollectedEntry extends ListEntry {
  range: AddressRange;
}

/** Larger networks are rejected: /8 of IPv4 and /16 of IPv6 are the largest. */
const LARGEST = { 4: 1n << 24n, 6: 1n << 112n };
/** IPv6 uses 2000::/3 only. */
const HALF = { 4: 1n << 31n, 6: 1n << 124n };
const BITS = { 4: 32, 6: 128 };
const notPublic = neverPublic.flatMap((network) => rangeOf(network) ?? []);

export class EntryCollector {
  readonly #maxEntries: number;
  readonly #found = new Map<string, CollectedEntry>();
  #rejected = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Null: a line without an entry. */
  add(entry: string | null, until = Infinity): void {
    const range = entry === null ? null : rangeOf(entry);
    if (!range || !isUsable(range)) {
      this.#rejected += 1;
      return;
    }
    const text = textOf(range);
    const known = this.#found.get(text);
    if (!known || known.until < until) this.#found.set(text, { text, range, until });
  }

  /** Why no further entries are needed. */
  error(): ListSourceError | null {
    if (this.#rejected > MAX_REJECTED_LINES) return 'tooManyRejected';
    return this.#found.size > this.#maxEntries ? 'tooManyEntries' : null;
  }

  /** Fails if the entries cover half of all addresses. */
  finish(): ParsedList | ListSourceError {
    const sorted = [...this.#found.values()].toSorted(byAddress);
    if (coversHalf(sorted)) return 'tooBroad';
    return { entries: sorted.map(({ text, until }) => ({ text, until })), rejected: this.#rejected };
  }
}

/** An address, a network, or a range that is no network. */
function textOf(range: AddressRange): string {
  const first = addressText(range, range.first);
  const size = sizeOf(range);
  if (size === 1n) return first;
  const isNetwork = (size & (size - 1n)) === 0n && range.first % size === 0n;
  const hostBits = size.toString(2).length - 1;
  return isNetwork ? `${first}/${BITS[range.family] - hostBits}` : `${first}-${addressText(range, range.last)}`;
}

function addressText({ family }: AddressRange, address: bigint): string {
  const digits = address.toString(16).padStart(BITS[family] / 4, '0');
  return ipaddr.fromByteArray([...Buffer.from(digits, 'hex')]).toString();
}

const sizeOf = ({ first, last }: AddressRange) => last - first + 1n;
const isUsable = (range: AddressRange) => sizeOf(range) <= LARGEST[range.family] && !isPrivate(range);
const isPrivate = ({ family, first, last }: AddressRange) =>
  notPublic.some((one) => one.family === family && one.first <= last && first <= one.last);

function byAddress({ range: a }: CollectedEntry, { range: b }: CollectedEntry): number {
  const order = a.family - b.family || compare(a.first, b.first);
  return order || compare(a.last, b.last);
}
const compare = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));

/** The entries are sorted, so each address counts once. */
function coversHalf(entries: readonly CollectedEntry[]): boolean {
  const covered = { 4: 0n, 6: 0n };
  const counted = { 4: -1n, 6: -1n };
  for (const { range } of entries) {
    const { family, first, last } = range;
    const from = first > counted[family] ? first : counted[family] + 1n;
    if (from > last) continue;
    covered[family] += last - from + 1n;
    counted[family] = last;
  }
  return covered[4] >= HALF[4] || covered[6] >= HALF[6];
}
