import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countsOf, encodeRiskPack, faultOf, flattened, networkOf, networksAt, readRiskPack } from './risk-pack.ts';
import type { RiskRange } from './risk-pack.ts';

const runs = { numRuns: 150, seed: 1 };
const packOf = (networks: Record<string, number>) =>
  encodeRiskPack(flattened(Object.entries(networks).map(([network, score]) => ({ ...networkOf(network), score }))));
const at = (networks: Record<string, number>, level: number) => [...networksAt(readRiskPack(packOf(networks)), level)];

/** A small address range, so that networks overlap. */
const someNetworks = fc.array(
  fc.record({
    network: fc.oneof(
      fc
        .tuple(fc.nat(63), fc.integer({ min: 24, max: 32 }))
        .map(([last, bits]) => `8.8.${last % 3}.${last * 4}/${bits}`),
      fc
        .tuple(fc.nat(15), fc.integer({ min: 56, max: 128 }))
        .map(([low, bits]) => `2a00:0:0:${low.toString(16)}::1/${bits}`),
    ),
    score: fc.integer({ min: 1, max: 100 }),
  }),
  { minLength: 1, maxLength: 40 },
);
const isIn = (range: Omit<RiskRange, 'score'>, address: Omit<RiskRange, 'score'>) =>
  range.family === address.family && range.first <= address.first && address.last <= range.last;

test('what is dropped at a level is exactly what a network of that score or higher holds', () => {
  fc.assert(
    fc.property(someNetworks, fc.constantFrom(1, 25, 50, 75, 100), (given, level) => {
      const ranges = given.map(({ network, score }) => ({ ...networkOf(network), score }));
      const dropped = [...networksAt(readRiskPack(encodeRiskPack(flattened(ranges))), level)].map(networkOf);
      const places = ranges.flatMap(({ family, first, last }) =>
        [first - 1n, first, last, last + 1n].map((place) => ({ family, first: place, last: place })),
      );
      for (const place of places) {
        const score = Math.max(0, ...ranges.filter((range) => isIn(range, place)).map((range) => range.score));
        expect(dropped.filter((range) => isIn(range, place)).length).toBe(score >= level ? 1 : 0);
      }
    }),
    runs,
  );
});

test('the same networks give the same bytes, in whatever order and however often they are named', () => {
  fc.assert(
    fc.property(someNetworks, (given) => {
      const ranges = given.map(({ network, score }) => ({ ...networkOf(network), score }));
      const file = encodeRiskPack(flattened(ranges));
      expect(encodeRiskPack(flattened([...ranges.toReversed(), ...ranges]))).toEqual(file);
    }),
    runs,
  );
});

test('of networks within each other the higher score counts, and neighbours become one', () => {
  const networks = { '9.0.0.0/24': 50, '9.0.0.7': 100, '9.0.0.64/26': 25, '9.0.1.0/24': 50, '2a00:1:2:3::4': 75 };
  expect(at(networks, 50)).toEqual(['9.0.0.0/23', '2a00:1:2:3::/64']);
  expect(at(networks, 100)).toEqual(['9.0.0.7']);
  expect(countsOf(readRiskPack(packOf(networks)))).toEqual([
    { level: 25, networks: 2 },
    { level: 50, networks: 2 },
    { level: 75, networks: 2 },
    { level: 100, networks: 1 },
  ]);
});

test.each([
  ['nothing', '256.1.1.1'],
  ['nothing', '1.2.3'],
  ['nothing', '1.2.3.4/33'],
  ['nothing', '01.2.3.4'],
  ['nothing', '2a00:1::2::3'],
  ['nothing', '2a00:1:2:3:4:5:6:7:8'],
  ['nothing', '<!doctype html>'],
])('%s is made of %s', (_, text) => {
  expect(() => networkOf(text)).toThrow(/is no/);
});

test('networks that are reserved or as wide as a slip have a name for it', () => {
  const faults = (...networks: string[]) => networks.map((network) => faultOf(networkOf(network)));
  expect(faults('10.1.2.3', '192.168.0.0/24', '::1', 'fe80::1', '2001:db8::1')).toEqual(
    Array.from({ length: 5 }, () => 'reserved'),
  );
  expect(faults('0.0.0.0/0', '8.0.0.0/7', '2a00::/15')).toEqual(Array.from({ length: 3 }, () => 'tooWide'));
  expect(faults('8.0.0.0/8', '2a00::/16', '8.8.8.8', '2a00:1450::1')).toEqual([null, null, null, null]);
});

describe('a pack is refused', () => {
  const good = packOf({ '8.8.8.0/24': 100, '9.9.9.9': 50, '2a00:1450::/32': 75 });
  /** Returns a modified pack with a valid checksum. */
  const forged = (work: (file: Buffer) => void, file = Buffer.from(good)) => {
    work(file);
    file.writeUInt32LE(crc32(file.subarray(24)), 20);
    return file;
  };

  test.each<[string, Buffer, RegExp]>([
    ['that is garbage', Buffer.from('no pack at all, though long enough'), /no risk pack/],
    ['that is empty', Buffer.alloc(0), /no risk pack/],
    ['that is torn', good.subarray(0, -1), /bytes instead of/],
    ['that has rotted', Buffer.from(good).fill(7, 30, 31), /damaged/],
    ['of a later form', forged((file) => file.writeUInt32LE(2, 8)), /form 2/],
    ['that says more than is there', forged((file) => file.writeUInt32LE(3, 12)), /bytes instead of/],
    ['that says more than anybody takes', forged((file) => file.writeUInt32LE(0xffff_ffff, 12)), /more than 1000000/],
    ['of no order', forged((file) => file.writeUInt32LE(0, 24 + 8)), /not in order/],
    ['with a score of nothing', forged((file) => file.writeUInt8(0, file.length - 1)), /score of 0/],
    ['that lists a reserved network', packOf({ '10.0.0.0/24': 100 }), /reserved: 10\.0\.0\.0/],
    ['that lists one around a reserved network', packOf({ '192.0.0.0/10': 100 }), /reserved: 192\.0\.0\.0/],
    ['that lists the loopback of IPv6', packOf({ '::1': 100 }), /reserved: ::/],
    [
      'that lists much of the internet',
      packOf(Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`${20 + i}.0.0.0/8`, 25]))),
      /more than 5 %/,
    ],
  ])('%s', (_, file, message) => {
    expect(() => readRiskPack(file)).toThrow(message);
  });

  test('whatever byte of it is another', () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), (place, by) => {
        const file = Buffer.from(good);
        file.writeUInt8((file.readUInt8(place) + by) % 256, place);
        expect(() => readRiskPack(file)).toThrow();
      }),
      runs,
    );
  });
});
