// Cuts a list into chunks that fit into documents.
import { hash } from 'node:crypto';
import type { ListEntry } from './entries.ts';

/** As stored and compiled. */
export interface ListChunk {
  value: string[];
  /** Ends of those entries that end. */
  expires: { ip: string; at: string }[];
}

/** A document of this many entries is below 2 MB, also of IPv6 addresses. */
export const MAX_CHUNK_ENTRIES = 20_000;
/** Bounds the number of chunks. */
const MIN_CHUNK_ENTRIES = 4_000;
const MINUTE_MS = 60_000;

/**
 * The entries themselves decide where a chunk begins. Chunks of a fixed size would all change with one new entry at
 * the front. So only the chunk around a new entry changes, and rarely the next one.
 */
export function cutIntoChunks(entries: readonly ListEntry[]): ListChunk[] {
  const chunks: ListChunk[] = [];
  let first = 0;
  for (const [i, { text }] of entries.entries()) {
    const size = i - first;
    if (size < MIN_CHUNK_ENTRIES || (size < MAX_CHUNK_ENTRIES && !canBegin(text))) continue;
    chunks.push(chunkOf(entries.slice(first, i)));
    first = i;
  }
  if (first < entries.length) chunks.push(chunkOf(entries.slice(first)));
  return chunks;
}

/** One of 4,096 entries. */
const canBegin = (text: string) => hash('sha1', text).startsWith('000');

const chunkOf = (entries: readonly ListEntry[]): ListChunk => ({
  value: entries.map(({ text }) => text),
  expires: entries.flatMap(({ text, until }) => (until === Infinity ? [] : [{ ip: text, at: endOf(until) }])),
});
const endOf = (until: number) => new Date(Math.ceil(until / MINUTE_MS) * MINUTE_MS).toISOString();

export const entriesOf = (chunks: readonly ListChunk[]) => chunks.flatMap(({ value }) => value);

/** Fewer missing entries are an ordinary change. */
const MIN_MISSING = 100;
/** Stored ends are up to two minutes late: rounded up, and kept within a minute. */
const END_TOLERANCE_MS = 2 * MINUTE_MS;

/** Whether most of the stored entries that have not ended are missing. LAPI can cut a response without an error. */
export function lacksMost(chunks: readonly ListChunk[], stored: readonly ListChunk[], now: number): boolean {
  const ends = new Map(stored.flatMap(({ expires }) => expires.map(({ ip, at }) => [ip, Date.parse(at)])));
  const inForce = entriesOf(stored).filter((ip) => (ends.get(ip) ?? Infinity) > now + END_TOLERANCE_MS);
  const entries = new Set(entriesOf(chunks));
  const missing = inForce.filter((ip) => !entries.has(ip)).length;
  return missing > MIN_MISSING && missing > inForce.length / 2;
}

/**
 * Sources say how long an entry remains, so the computed end of the same entry varies by seconds from fetch to fetch.
 * An end within a minute of the stored one is replaced by it, so that a fetch without news changes no chunk.
 */
export function withStoredEnds(chunks: readonly ListChunk[], stored: readonly ListChunk[]): ListChunk[] {
  const ends = new Map(stored.flatMap(({ expires }) => expires.map(({ ip, at }) => [ip, at])));
  const settled = (ip: string, at: string) => {
    const known = ends.get(ip);
    return known !== undefined && Math.abs(Date.parse(known) - Date.parse(at)) <= MINUTE_MS ? known : at;
  };
  return chunks.map(({ value, expires }) => ({
    value,
    expires: expires.map(({ ip, at }) => ({ ip, at: settled(ip, at) })),
  }));
}
