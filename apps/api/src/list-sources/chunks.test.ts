import { expect, test } from 'vitest';
import { cutIntoChunks, MAX_CHUNK_ENTRIES, withStoredEnds } from './chunks.ts';

const addresses = Array.from({ length: 65_000 }, (_, i) => ({
  text: `9.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
  until: Infinity,
}));
const chunksOf = (entries: typeof addresses) => new Set(cutIntoChunks(entries).map(({ value }) => value.join()));

test('the chunks of a list have all its entries in order, and fit into documents', () => {
  const chunks = cutIntoChunks(addresses).map(({ value }) => value);
  expect(chunks.flat()).toEqual(addresses.map(({ text }) => text));
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

const endsOf = (time: string) => cutIntoChunks([{ text: '203.0.113.7', until: Date.parse(`2026-11-30T${time}Z`) }]);
const stored = endsOf('03:59:59');

test('an entry ends at the next full minute', () => {
  const expires = [{ ip: '203.0.113.7', at: '2026-11-30T04:00:00.000Z' }];
  expect(stored).toEqual([{ value: ['203.0.113.7'], expires }]);
});

test.each(['03:59:01', '04:00:00', '04:00:01', '03:58:59'])('an end at %s is that of the last fetch', (until) => {
  expect(withStoredEnds(endsOf(until), stored)).toEqual(stored);
});

test('an entry whose end moved, or that never ends any more, has its new end', () => {
  expect(withStoredEnds(endsOf('05:00:00'), stored)).toEqual(endsOf('05:00:00'));
  const forever = cutIntoChunks([{ text: '203.0.113.7', until: Infinity }]);
  expect(withStoredEnds(forever, stored)).toEqual([{ value: ['203.0.113.7'], expires: [] }]);
  expect(withStoredEnds(stored, [])).toEqual(stored);
});
