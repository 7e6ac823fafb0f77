// Cuts a list into chunks that fit into documents.
import { hash } from 'node:crypto';

/** A document of this many entries is below 2 MB, also of IPv6 addresses. */
export const MAX_CHUNK_ENTRIES = 20_000;
/** Bounds the number of chunks. */
const MIN_CHUNK_ENTRIES = 4_000;

/**
 * The entries themselves decide where a chunk begins. Chunks of a fixed size would all change with one new entry at
 * the front. So only the chunk around a new entry changes, and rarely the next one.
 */
export function cutIntoChunks(entries: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let first = 0;
  for (const [i, entry] of entries.entries()) {
    const size = i - first;
    if (size < MIN_CHUNK_ENTRIES || (size < MAX_CHUNK_ENTRIES && !canBegin(entry))) continue;
    chunks.push(entries.slice(first, i));
    first = i;
  }
  if (first < entries.length) chunks.push(entries.slice(first));
  return chunks;
}

/** One of 4,096 entries. */
const canBegin = (entry: string) => hash('sha1', entry).startsWith('000');
