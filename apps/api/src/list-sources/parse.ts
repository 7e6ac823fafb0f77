// Reads the text of a subscribed list: one address, network or range per line, or in the first column of a CSV file.
// Runs in a worker thread (parse.worker.ts), because a long list takes up to a second.
import { rangeOf, type AddressRange } from '@edgeloom/contract/common/address-ranges.ts';
import { MAX_REJECTED_LINES, type ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import ipaddr from 'ipaddr.js';
import { neverPublic } from '../core/outbound.ts';

export interface ParsedList {
  /** In one spelling, without duplicates, in ascending order, so that the same addresses are the same entries. */
  entries: string[];
  /** Lines without a usable entry. */
  rejected: number;
}
interface Entry {
  text: string;
  range: AddressRange;
}

/** Larger networks are rejected: /8 of IPv4 and /16 of IPv6 are the largest. */
const LARGEST = { 4: 1n << 24n, 6: 1n << 112n };
/** IPv6 uses 2000::/3 only. */
const HALF = { 4: 1n << 31n, 6: 1n << 124n };
const BITS = { 4: 32, 6: 128 };
const notPublic = neverPublic.flatMap((network) => rangeOf(network) ?? []);

/** Longer lines are rejected unread, so that no line takes long. */
const MAX_LINE = 1024;

/** Fails with more entries, without any, with too many other lines, and if the entries cover half of all addresses. */
export function parseList(text: string, maxEntries: number): ParsedList | ListSourceError {
  const found = new Map<string, AddressRange>();
  let rejected = 0;
  for (const [line] of text.replace(/^\uFEFF/, '').matchAll(/[^\r\n]+/g)) {
    const entry = line.length > MAX_LINE ? null : entryIn(line);
    if (entry === '') continue;
    const range = entry === null ? null : rangeOf(entry);
    if (!range || !isUsable(range)) rejected += 1;
    else found.set(textOf(range), range);
    if (rejected > MAX_REJECTED_LINES) return 'tooManyRejected';
    if (found.size > maxEntries) return 'tooManyEntries';
  }
  if (found.size === 0) return 'noEntries';
  const sorted = [...found].map(([text, range]) => ({ text, range })).toSorted(byAddress);
  if (coversHalf(sorted)) return 'tooBroad';
  return { entries: sorted.map((one) => one.text), rejected };
}

/** Empty: the line has only a comment. */
function entryIn(line: string): string {
  const [column = ''] = line.split(/[#;,]/, 1);
  const [first = '', dash, last = ''] = column.replaceAll('"', '').trim().split(/\s+/, 3);
  return (dash === '-' ? `${first}-${last}` : first).toLowerCase();
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

function byAddress({ range: a }: Entry, { range: b }: Entry): number {
  const order = a.family - b.family || compare(a.first, b.first);
  return order || compare(a.last, b.last);
}
const compare = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));

/** The entries are sorted, so each address counts once. */
function coversHalf(entries: readonly Entry[]): boolean {
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
