// The format of a pack of the product `risk`: one file, `risk.bin`, of networks that attacks came from, with scores
// from 1 to 100. The ranges of several sources are merged when it is made, so that readers find an address by binary
// search: the agent for the kernel's set, and Lua (agent/lua/edge/core/risk.lua) for a request.
//
//   "EDGERISK", then 32-bit little-endian: version (1), number of IPv4 ranges (n), of IPv6 (m), CRC-32 of the rest
//   first[n] last[n]                      IPv4
//   firstHigh[m] firstLow[m] lastHigh[m] lastLow[m]   the upper 64 bits of IPv6: the smallest range is a /64
//   score[n] score[m]                     a byte each
//
// Ranges are sorted and do not overlap.
import { crc32 } from 'node:zlib';
import { riskLevels } from '../zone-firewall/zone-firewall.ts';

export const RISK_FILE = 'risk.bin';
const MAGIC = 'EDGERISK';
const FORM = 1;
const HEADER = 24;
/** The capacity of kernel sets. */
const MOST_RANGES = 1_000_000;
/** A feed that covers this share of public addresses is a mistake. */
const MOST_SHARE = 0.05;
const WIDEST = { 4: 8, 6: 16 } as const;

export type Family = 4 | 6;
/** First and last of a range. For IPv6 the upper 64 bits. */
export interface RiskRange {
  family: Family;
  first: bigint;
  last: bigint;
  score: number;
}
/** The columns of the file, by index. */
export interface RiskTable {
  first: Uint32Array | BigUint64Array;
  last: Uint32Array | BigUint64Array;
  score: Uint8Array;
}
export type RiskPack = Record<Family, RiskTable>;

const widthOf = (family: Family) => (family === 4 ? 32 : 64);

/** Addresses that are not public, or shared by too many people. IPv6 uses 2000::/3 only. */
const reserved = {
  4: [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ],
  6: [
    ['::', 3],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['3fff::', 20],
    ['4000::', 2],
    ['8000::', 1],
  ],
} as const;
const roomOf = (family: Family) => (family === 4 ? 2 ** 32 : 2 ** 61);

/** Parses a network or an address. Throws when invalid. */
export function networkOf(text: string): Omit<RiskRange, 'score'> {
  const cut = text.indexOf('/');
  const address = cut < 0 ? text : text.slice(0, cut);
  const family: Family = address.includes(':') ? 6 : 4;
  const bits = cut < 0 ? (family === 4 ? 32 : 128) : bitsOf(text.slice(cut + 1), family);
  const width = widthOf(family);
  const host = BigInt(Math.max(0, width - bits));
  const first = ((family === 4 ? numberOf(address) : upperOf(address)) >> host) << host;
  return { family, first, last: first + (1n << host) - 1n };
}

function bitsOf(text: string, family: Family): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > (family === 4 ? 32 : 128)) throw new Error(`/${text} is no length`);
  return Number(text);
}

function numberOf(address: string): bigint {
  const parts = address.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    throw new Error(`${address} is no address`);
  return BigInt(parts.reduce((sum, part) => sum * 256 + Number(part), 0));
}

function upperOf(address: string): bigint {
  const bad = () => new Error(`${address} is no address`);
  const halves = address.split('::');
  const [head = [], tail] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const given = head.length + (tail?.length ?? 0);
  if (halves.length > 2 || (tail === undefined ? given !== 8 : given > 7)) throw bad();
  const groups = [...head, ...Array<string>(8 - given).fill('0'), ...(tail ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) throw bad();
  return groups.slice(0, 4).reduce((sum, group) => (sum << 16n) + BigInt(parseInt(group, 16)), 0n);
}

/** Why a network must not be listed. Null: it may. */
export function faultOf({ family, first, last }: Omit<RiskRange, 'score'>): 'reserved' | 'tooWide' | null {
  if (last - first >= 1n << BigInt(widthOf(family) - WIDEST[family])) return 'tooWide';
  return isReserved({ family, first, last }) ? 'reserved' : null;
}

function isReserved({ family, first, last }: Omit<RiskRange, 'score'>): boolean {
  return reservedRanges[family].some((other) => other.first <= last && first <= other.last);
}
const rangesOf = (family: Family) => reserved[family].map(([address, bits]) => networkOf(`${address}/${bits}`));
const reservedRanges = { 4: rangesOf(4), 6: rangesOf(6) };

/** Flattens nested and duplicate networks. The highest score counts. */
export function flattened(networks: readonly RiskRange[]): RiskRange[] {
  const sorted = networks.toSorted(
    (a, b) => a.family - b.family || compare(a.first, b.first) || compare(b.last, a.last) || b.score - a.score,
  );
  const flat: RiskRange[] = [];
  // Networks are nested or disjoint, so the open ones form a stack.
  const open: RiskRange[] = [];
  let at = 0n;
  const emit = (family: Family, to: bigint, score: number) => {
    if (to < at) return;
    const before = flat.at(-1);
    if (before?.family === family && before.score === score && before.last + 1n === at) before.last = to;
    else flat.push({ family, first: at, last: to, score });
    at = to + 1n;
  };
  const closeBefore = (family: Family, first: bigint) => {
    for (let top = open.at(-1); top && (top.family !== family || top.last < first); top = open.at(-1)) {
      emit(top.family, top.last, top.score);
      open.pop();
    }
  };
  for (const network of sorted) {
    closeBefore(network.family, network.first);
    const around = open.at(-1);
    if (around && around.score >= network.score) continue;
    if (around && around.first < network.first && at < network.first)
      emit(around.family, network.first - 1n, around.score);
    at = network.first;
    open.push(network);
  }
  closeBefore(6, 1n << 65n);
  return flat;
}

const compare = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));

export function encodeRiskPack(ranges: readonly RiskRange[]): Buffer {
  const [four, six] = ([4, 6] as const).map((family) => ranges.filter((range) => range.family === family));
  const [n, m] = [four?.length ?? 0, six?.length ?? 0];
  const file = Buffer.alloc(HEADER + 9 * n + 17 * m);
  file.write(MAGIC, 'latin1');
  let at = file.writeUInt32LE(m, file.writeUInt32LE(n, file.writeUInt32LE(FORM, MAGIC.length))) + 4;
  const put = (rows: readonly RiskRange[] = [], of: (row: RiskRange) => bigint) => {
    for (const row of rows) at = file.writeUInt32LE(Number(of(row) & LOW), at);
  };
  put(four, ({ first }) => first);
  put(four, ({ last }) => last);
  put(six, ({ first }) => first >> 32n);
  put(six, ({ first }) => first);
  put(six, ({ last }) => last >> 32n);
  put(six, ({ last }) => last);
  for (const { score } of [...(four ?? []), ...(six ?? [])]) at = file.writeUInt8(score, at);
  file.writeUInt32LE(crc32(file.subarray(HEADER)), HEADER - 4);
  return file;
}

const LOW = 0xffff_ffffn;

/** Throws when the pack is invalid, even if its signature is valid. */
export function readRiskPack(file: Buffer): RiskPack {
  if (file.length < HEADER || file.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('it is no risk pack');
  const [form = 0, n = 0, m = 0, sum] = [8, 12, 16, 20].map((offset) => file.readUInt32LE(offset));
  if (form !== FORM) throw new Error(`it is of form ${form}, and this agent reads ${FORM}`);
  if (n + m === 0) throw new Error('it is empty');
  if (n + m > MOST_RANGES) throw new Error(`it holds more than ${MOST_RANGES} ranges`);
  const bytes = HEADER + 9 * n + 17 * m;
  if (file.length !== bytes) throw new Error(`it has ${file.length} bytes instead of ${bytes}`);
  if (crc32(file.subarray(HEADER)) !== sum) throw new Error('it is damaged: its checksum is another');
  const word = (index: number) => file.readUInt32LE(HEADER + 4 * index);
  const upper = (part: number) => (_: unknown, i: number) =>
    (BigInt(word(2 * n + part * m + i)) << 32n) | BigInt(word(2 * n + (part + 1) * m + i));
  const scores = HEADER + 8 * n + 16 * m;
  const pack: RiskPack = {
    4: {
      first: Uint32Array.from({ length: n }, (_, i) => word(i)),
      last: Uint32Array.from({ length: n }, (_, i) => word(n + i)),
      score: file.subarray(scores, scores + n),
    },
    6: {
      first: BigUint64Array.from({ length: m }, upper(0)),
      last: BigUint64Array.from({ length: m }, upper(2)),
      score: file.subarray(scores + n),
    },
  };
  assertSound(4, pack[4]);
  assertSound(6, pack[6]);
  return pack;
}

function assertSound(family: Family, { first, last, score }: RiskTable): void {
  let covered = 0;
  for (let i = 0; i < first.length; i += 1) {
    const [from = 0, to = 0, before = -1] = [first[i], last[i], last[i - 1]];
    if (from <= before || to < from) throw new Error('its ranges are not in order');
    covered += Number(to) - Number(from) + 1;
  }
  const bad = score.find((one) => one < 1 || one > 100);
  if (bad !== undefined) throw new Error(`it has a score of ${bad}`);
  for (const [address, bits] of reserved[family]) {
    const network = networkOf(`${address}/${bits}`);
    // The first range that ends at or after its start.
    const at = placeOf(last, network.first);
    if ((first[at] ?? Infinity) <= network.last) throw new Error(`it lists what is reserved: ${address}/${bits}`);
  }
  if (covered > roomOf(family) * MOST_SHARE)
    throw new Error(`it lists more than ${MOST_SHARE * 100} % of all addresses of IPv${family}`);
}

/** The index of the first number that is not smaller. */
function placeOf(sorted: RiskTable['last'], number: bigint): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Yields the fewest networks that cover this level. A generator, since there may be a million. */
export function* networksAt(pack: RiskPack, level: number): Generator<string> {
  for (const family of [4, 6] as const) {
    const { first, last, score } = pack[family];
    for (let i = 0; i < first.length; i += 1) {
      if ((score[i] ?? 0) < level) continue;
      const from = first[i] ?? 0;
      while ((score[i + 1] ?? 0) >= level && isNext(last[i], first[i + 1])) i += 1;
      const to = last[i] ?? 0;
      if (family === 4 && from === to) yield dotted(Number(from));
      else yield* cover(family, BigInt(from), BigInt(to));
    }
  }
}

/** BigInt, since IPv6 values exceed the precision of numbers. */
const isNext = (one: number | bigint = 0, other: number | bigint = 0) =>
  typeof one === 'bigint' ? other === one + 1n : other === one + 1;

/** The number of networks per level. */
export const countsOf = (pack: RiskPack) =>
  riskLevels.map((level) => ({ level, networks: countOf(networksAt(pack, level)) }));

function countOf(all: Iterable<string>): number {
  let count = 0;
  for (const network of all) if (network !== '') count += 1;
  return count;
}

function* cover(family: Family, from: bigint, last: bigint): Generator<string> {
  const width = widthOf(family);
  for (let first = from; first <= last;) {
    let host = 0n;
    for (let size = 2n; (first & (size - 1n)) === 0n && first + size - 1n <= last; size *= 2n) host += 1n;
    yield textOf(family, first, width - Number(host));
    first += 1n << host;
  }
}

function textOf(family: Family, first: bigint, bits: number): string {
  if (family === 4) return bits === 32 ? dotted(Number(first)) : `${dotted(Number(first))}/${bits}`;
  const groups = [48n, 32n, 16n, 0n].map((shift) => ((first >> shift) & 0xffffn).toString(16));
  while (groups.at(-1) === '0') groups.pop();
  return `${groups.join(':')}::/${bits}`;
}

const dotted = (address: number) =>
  `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
