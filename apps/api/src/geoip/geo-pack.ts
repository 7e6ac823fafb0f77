// Compiles the geo pack of nodes from GeoIP databases, by a walk of their trees. Yields to other work in between.
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { encodeGeoPack, type GeoRanges } from '@edgeloom/contract/edge/geo-pack.ts';
import type { Reader } from 'mmdb-lib';
import { continentOf } from './continents.ts';
import { networkFrom, placeFrom } from './records.ts';

export interface GeoPack {
  version: string;
  /** base64 */
  parts: string[];
}
export interface GeoDatabase {
  bytes: Buffer;
  reader: Reader<never>;
}

/** Below the size limit of documents, as base64. */
const PART_BYTES = 2_000_000;
const MAX_PARTS = 32;
const NODES_BETWEEN_YIELDS = 20_000;
/** Indexes of places have 16 bits. */
const MAX_PLACES = 65_535;

export async function buildGeoPack(country: GeoDatabase, asn: GeoDatabase | null): Promise<GeoPack> {
  const places = table((record) => {
    const { country: code, province } = placeFrom(record);
    const isCode = /^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(province);
    return { country: code, continent: continentOf(code), province: isCode ? province : '' };
  }, MAX_PLACES);
  const networks = table(networkFrom, Infinity);
  const place = await rangesOf(country, places.indexOf);
  const network = asn ? await rangesOf(asn, networks.indexOf) : { 4: noRanges(), 6: noRanges() };
  const file = encodeGeoPack({ place, network, places: places.rows, networks: networks.rows });
  const parts: string[] = [];
  for (let at = 0; at < file.length; at += PART_BYTES)
    parts.push(file.subarray(at, at + PART_BYTES).toString('base64'));
  if (parts.length > MAX_PARTS) throw new Error(`the geo pack has more than ${MAX_PARTS} parts`);
  return { version: createHash('sha256').update(file).digest('hex').slice(0, 32), parts };
}

/** Distinct rows. The first one is unknown, and replaces those beyond the limit. */
function table<Row>(rowOf: (record: unknown) => Row, limit: number) {
  const rows = [rowOf(null)];
  const known = new Map([[JSON.stringify(rows[0]), 0]]);
  return {
    rows,
    indexOf(record: unknown): number {
      const row = rowOf(record);
      const key = JSON.stringify(row);
      const at = known.get(key);
      if (at !== undefined) return at;
      if (rows.length >= limit) return 0;
      known.set(key, rows.length);
      return rows.push(row) - 1;
    },
  };
}

const noRanges = (): GeoRanges => ({ high: [], low: [], index: [] });

async function rangesOf({ bytes, reader }: GeoDatabase, indexOf: (record: unknown) => number) {
  const { ipVersion } = reader.metadata;
  const child = childrenOf(bytes, reader);
  const start4 = ipVersion === 4 ? 0 : startOf4(child, reader.metadata.nodeCount);
  const byPointer = new Map<number, number>();
  const walk = (family: 4 | 6, start: number) =>
    walkTree({ child, nodeCount: reader.metadata.nodeCount, family, start, start4 }, (pointer, high, low) => {
      const found = byPointer.get(pointer);
      if (found !== undefined) return found;
      const index = indexOf(read(reader, textOf(family, high, low)));
      byPointer.set(pointer, index);
      return index;
    });
  return { 4: await walk(4, start4), 6: ipVersion === 4 ? noRanges() : await walk(6, 0) };
}

function read(reader: Reader<never>, address: string): unknown {
  try {
    return reader.get(address);
  } catch {
    // A damaged part of the file.
    return null;
  }
}

const textOf = (family: 4 | 6, high: number, low: number) =>
  family === 4
    ? [24, 16, 8, 0].map((shift) => (high >>> shift) & 255).join('.')
    : `${[high >>> 16, high & 0xffff, low >>> 16, low & 0xffff].map((group) => group.toString(16)).join(':')}::`;

type Child = (node: number, side: 0 | 1) => number;

function childrenOf(bytes: Buffer, { metadata: { recordSize, nodeByteSize } }: Reader<never>): Child {
  return (node, side) => {
    const at = node * nodeByteSize;
    if (recordSize === 24) return bytes.readUIntBE(at + 3 * side, 3);
    if (recordSize === 32) return bytes.readUInt32BE(at + 4 * side);
    const middle = bytes[at + 3] ?? 0;
    return side === 0
      ? ((middle & 0xf0) << 20) | bytes.readUIntBE(at, 3)
      : ((middle & 0x0f) << 24) | bytes.readUIntBE(at + 4, 3);
  };
}

function startOf4(child: Child, nodeCount: number): number {
  let node = 0;
  for (let i = 0; i < 96 && node < nodeCount; i += 1) node = child(node, 0);
  return node;
}

interface Tree {
  child: Child;
  nodeCount: number;
  family: 4 | 6;
  start: number;
  /** Aliases of the IPv4 tree within IPv6, such as 2002::/16, are left out. */
  start4: number;
}

/** `indexOf`: the index of a data pointer, first met at this address. Only the upper 64 bits of IPv6 count. */
async function walkTree(
  { child, nodeCount, family, start, start4 }: Tree,
  indexOf: (pointer: number, high: number, low: number) => number,
): Promise<GeoRanges> {
  const depthLimit = family === 4 ? 32 : 64;
  const ranges = noRanges();
  const emit = (high: number, low: number, index: number) => {
    if (ranges.index.at(-1) === index) return;
    ranges.high.push(high);
    ranges.low.push(low);
    ranges.index.push(index);
  };
  const open: [node: number, depth: number, high: number, low: number][] = [[start, 0, 0, 0]];
  for (let visited = 1; open.length > 0; visited += 1) {
    if (visited % NODES_BETWEEN_YIELDS === 0) await setImmediate();
    const [node, depth, high, low] = open.pop() ?? [0, 0, 0, 0];
    const isAlias = family === 6 && node === start4 && depth > 0;
    if (node === nodeCount || isAlias) emit(high, low, 0);
    else if (node > nodeCount) emit(high, low, indexOf(node, high, low));
    // Longer prefixes than a /64 are left out.
    else if (depth === depthLimit) emit(high, low, 0);
    else {
      const bit = 2 ** (31 - (depth % 32));
      const right = depth < 32 ? ([high + bit, low] as const) : ([high, low + bit] as const);
      open.push([child(node, 1), depth + 1, ...right], [child(node, 0), depth + 1, high, low]);
    }
  }
  return ranges;
}
