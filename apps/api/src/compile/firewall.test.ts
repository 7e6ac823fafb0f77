import { expect, test } from 'vitest';
import { listDoc, listRefDocs, narrowList } from './firewall.ts';

const hex = (text: string) => Buffer.from(text, 'base64').toString('hex');
const rangesOf = (value: string[], expires: { ip: string; at: string }[] = []) => {
  const { four } = listDoc({ id: 'x', value, expires });
  const [first, last] = [hex(four.first), hex(four.last)];
  const until = four.until === undefined ? null : Buffer.from(four.until, 'base64');
  return Array.from({ length: first.length / 8 }, (_, i) => [
    first.slice(8 * i, 8 * i + 8),
    last.slice(8 * i, 8 * i + 8),
    ...(until ? [until.readUInt32LE(4 * i)] : []),
  ]);
};

test('overlapping and adjacent entries become one range', () => {
  expect(rangesOf(['10.0.0.0/24', '10.0.0.128/25', '10.0.1.0-10.0.1.9', '10.0.2.0'])).toEqual([
    ['0a000000', '0a000109'],
    ['0a000200', '0a000200'],
  ]);
});

test('where entries overlap the one that holds longest counts', () => {
  const ends = (ip: string, seconds: number) => ({ ip, at: new Date(seconds * 1000).toISOString() });
  expect(
    rangesOf(
      ['10.0.0.0/24', '10.0.0.4/30', '10.0.0.8', '10.0.0.16/30'],
      [ends('10.0.0.0/24', 100), ends('10.0.0.4/30', 200), ends('10.0.0.16/30', 50)],
    ),
  ).toEqual([
    ['0a000000', '0a000003', 100],
    ['0a000004', '0a000007', 200],
    ['0a000008', '0a000008', 0],
    ['0a000009', '0a0000ff', 100],
  ]);
});

test('nested networks make at most two ranges per entry', () => {
  const value = Array.from({ length: 31 }, (_, i) => `10.0.0.0/${i + 1}`);
  const expires = value.map((ip, i) => ({ ip, at: new Date((i + 1) * 1000).toISOString() }));
  expect(rangesOf(value, expires).length).toBeLessThanOrEqual(2 * value.length + 1);
});

test('everything, and the last address, are ranges', () => {
  expect(rangesOf(['0.0.0.0/0'])).toEqual([['00000000', 'ffffffff']]);
  expect(rangesOf(['255.255.255.255'])).toEqual([['ffffffff', 'ffffffff']]);
  const { six } = listDoc({ id: 'x', value: ['::/0'], expires: [] });
  expect(hex(six.last)).toBe('f'.repeat(32));
});

test('a list for some visitors has only the ranges in which they are, with their ends', () => {
  const at = new Date(100_000).toISOString();
  const value = ['10.0.0.0/24', '10.0.2.1', '10.0.4.0-10.0.4.9', '2001:db8::/32', '2001:dba::1'];
  const doc = listDoc({ id: 'x', value, expires: [{ ip: '10.0.4.0-10.0.4.9', at }] });
  const narrowed = narrowList(doc, ['10.0.4.9', '10.0.0.0', '::ffff:10.0.0.255', '10.0.1.0', '9.9.9.9', '2001:db8::7']);
  const rest = ['10.0.0.0/24', '10.0.4.0-10.0.4.9', '2001:db8::/32'];
  expect(narrowed).toEqual(listDoc({ id: 'x', value: rest, expires: [{ ip: '10.0.4.0-10.0.4.9', at }] }));
  expect(narrowList(doc, ['9.9.9.9']).four).toEqual({ first: '', last: '', until: '' });
});

// Once, a URL as copied from a browser never matched, since nodes compare decoded paths.
test('encoded URLs of a list are decoded, and a stray % stays', () => {
  const pathsOf = (urls: string[]) =>
    listRefDocs([{ id: 'x', isBlack: true, urls, methods: [], monitor: false }]).lists?.[0]?.urls?.map(
      ({ path }) => path,
    );
  expect(pathsOf(['/%E5%95%86%E5%BA%97/*', 'https://a.example/b%20c', '/100%'])).toEqual(['/商店/', '/b c', '/100%']);
});
