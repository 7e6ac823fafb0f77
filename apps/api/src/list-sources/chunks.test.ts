import { expect, test } from 'vitest';
import { cutIntoChunks, MAX_CHUNK_ENTRIES } from './chunks.ts';

const addresses = Array.from({ length: 65_000 }, (_, i) => `9.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
const chunksOf = (entries: readonly string[]) => new Set(cutIntoChunks(entries).map((chunk) => chunk.join()));

test('the chunks of a list have all its entries in order, and fit into documents', () => {
  const chunks = cutIntoChunks(addresses);
  expect(chunks.flat()).toEqual(addresses);
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(MAX_CHUNK_ENTRIES);
  // Nodes search each of them.
  expect(chunks.length).toBeLessThan(17);
  expect(cutIntoChunks([])).toEqual([]);
});

// Regression: chunks of a fixed size changed all.
test.each([0, 1, 30_000, 64_999])('without entry %i of a list, at most two chunks are new', (at) => {
  const before = chunksOf(addresses);
  const after = chunksOf(addresses.toSpliced(at, 1));
  expect([...after].filter((chunk) => !before.has(chunk)).length).toBeLessThanOrEqual(2);
  expect(before.size).toBeGreaterThan(4);
});
