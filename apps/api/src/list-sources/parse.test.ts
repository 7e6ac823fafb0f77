import { MAX_REJECTED_LINES } from '@edgeloom/contract/list-sources/list-sources.ts';
import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseList } from './parse.ts';

const MAX = 1000;
const entriesOf = (text: string) => {
  const parsed = parseList(text, MAX);
  return typeof parsed === 'string' ? parsed : parsed.entries.map((one) => one.text);
};

const entry = (text: string) => ({ text, until: Infinity });

test.each([
  ['addresses, networks and ranges', '203.0.113.7\n198.51.100.0/24\n192.0.2.1-192.0.2.9', 3],
  ['lines that end like on Windows, and a byte order mark', '\uFEFF203.0.113.7\r\n203.0.113.8\r\n', 2],
  ['comments, also behind an entry', '# list\n; old\n203.0.113.7 # abuse\n203.0.113.8;SBL1', 2],
  ['the first column of a CSV file', '"203.0.113.7","2026-11-29"\n203.0.113.8,spam', 2],
  ['a range with spaces', '203.0.113.7 - 203.0.113.9', 1],
  ['a range with spaces in quotes', '"203.0.113.7  -  203.0.113.9","spam"', 1],
  ['columns that are no range', '203.0.113.7,-,203.0.113.9\n203.0.113.8 , x', 2],
  ['IPv6 in any case', '2001:DB8::1\n2001:db8::/32', 2],
  ['an entry once, however it is written', '203.0.113.7\n203.0.113.7/32\n203.0.113.7', 1],
])('a list has %s', (_, text, count) => {
  expect(parseList(text, MAX)).toEqual({ entries: expect.objectContaining({ length: count }), rejected: 0 });
});

test('the order of a file does not matter', () => {
  const lines = ['2001:db8::1', '203.0.113.7', '198.51.100.0/24', '9.9.9.9'];
  expect(entriesOf(lines.join('\n'))).toEqual(entriesOf(lines.toReversed().join('\n')));
  expect(entriesOf(lines.join('\n'))).toEqual(['9.9.9.9', '198.51.100.0/24', '203.0.113.7', '2001:db8::1']);
});

test('an entry is stored in one spelling', () => {
  const spellings = [
    ['203.0.113.7', '203.0.113.7/32', '203.0.113.7-203.0.113.7', '::ffff:203.0.113.7', '64:ff9b::cb00:7107'],
    ['198.51.100.0/24', '198.51.100.9/24', '198.51.100.0-198.51.100.255', '198.51.100.0 - 198.51.100.255'],
    ['192.0.2.1-192.0.2.9', '192.0.2.1 - 192.0.2.9'],
    ['2001:db8::1', '2001:DB8:0:0::1/128', '2001:0db8::0001'],
    ['2001:db8::/32', '2001:db8:1::/32', '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ];
  for (const [stored, ...others] of spellings) for (const other of others) expect(entriesOf(other)).toEqual([stored]);
});

test('a line above 1 KB is rejected unread', () => {
  // Patterns that backtrack would take days.
  const spaces = `203.0.113.9${' '.repeat(5_000_000)}203.0.113.9`;
  expect(parseList(`${spaces}\n203.0.113.7\n${spaces}`, MAX)).toEqual({ entries: [entry('203.0.113.7')], rejected: 2 });
});

test('a file of other lines is refused, although it has an address', () => {
  const others = 'x\n'.repeat(MAX_REJECTED_LINES);
  expect(parseList(`203.0.113.7\n${others}`, MAX)).toMatchObject({ rejected: MAX_REJECTED_LINES });
  expect(parseList(`203.0.113.7\n${others}x`, MAX)).toBe('tooManyRejected');
});

test.each(['0.0.0.0/0', '::/0', '8.0.0.0/7', '10.1.2.3', '192.168.0.0/16', '127.0.0.1', 'fe80::1', '::1'])(
  'the private or very large network %s is rejected, and the rest of the list counts',
  (network) => {
    expect(parseList(`${network}\n203.0.113.7`, MAX)).toEqual({ entries: [entry('203.0.113.7')], rejected: 1 });
  },
);

test('a page of HTML and an empty file are no lists', () => {
  expect(parseList('<!doctype html>\n<title>Sign in</title>', MAX)).toBe('noEntries');
  expect(parseList('# nothing today\n', MAX)).toBe('noEntries');
});

test('a list is refused with too many entries, or with half of all addresses', () => {
  expect(parseList('203.0.113.7\n203.0.113.8', 1)).toBe('tooManyEntries');
  const networks = Array.from({ length: 224 }, (_, i) => `${i}.0.0.0/8`);
  expect(parseList(networks.join('\n'), MAX)).toBe('tooBroad');
  // The same network in two parts counts once.
  const overlapping = networks.slice(11, 100).flatMap((network) => [network, network.replace('/8', '/9')]);
  expect(parseList(overlapping.join('\n'), MAX)).toMatchObject({ entries: expect.any(Array) });
});

test('any text is read, and each entry that comes out is read as itself', () => {
  const line = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.constantFrom('#', ';', '-', '/', ','));
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const parsed = parseList(lines.join('\n'), MAX);
      if (typeof parsed === 'string') return;
      const texts = parsed.entries.map(({ text }) => text);
      expect(entriesOf(texts.join('\n'))).toEqual(texts);
      for (const text of texts) expect(isIP(text.split(/[-/]/, 1)[0] ?? '')).toBeGreaterThan(0);
    }),
    { numRuns: 150, seed: 1 },
  );
});
