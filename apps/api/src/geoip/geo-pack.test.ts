import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mmdb } from '../../../../tests/support/builders/mmdb.ts';
import type { GeoPack } from './geo-pack.ts';
import { openGeoip } from './geoip.ts';

const log = { info: () => undefined, error: () => undefined };
const numberOf = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

/** Looks up IPv4 addresses, by the layout of geo-pack.ts. */
function readerOf({ parts }: GeoPack) {
  const file = Buffer.concat(parts.map((part) => Buffer.from(part, 'base64')));
  const [n4 = 0, n6 = 0, m4 = 0, m6 = 0, size = 0] = [8, 12, 16, 20, 24].map((at) => file.readUInt32LE(at));
  const table: unknown = JSON.parse(file.subarray(file.length - size).toString());
  const rowsOf = (name: string): unknown[] => {
    const rows: unknown = typeof table === 'object' && table !== null ? Reflect.get(table, name) : [];
    return Array.isArray(rows) ? rows : [];
  };
  const last = (from: number, count: number, address: number) => {
    let at = -1;
    while (at + 1 < count && file.readUInt32LE(from + 4 * (at + 1)) <= address) at += 1;
    return at;
  };
  const networks = 28 + 4 * (n4 + 2 * n6);
  const indexes = networks + 4 * (m4 + 2 * m6);
  const narrow = indexes + 4 * (m4 + m6);
  return {
    place: (address: number) => rowsOf('places')[file.readUInt16LE(narrow + 2 * last(28, n4, address))],
    network: (address: number) => rowsOf('networks')[file.readUInt32LE(indexes + 4 * last(networks, m4, address))],
  };
}

test('the pack agrees with the bundled database, and is compiled once', async () => {
  const geoip = await openGeoip({}, log);
  const [pack, again] = await Promise.all([geoip.pack(), geoip.pack()]);
  expect(again).toBe(pack);
  const { place } = readerOf(pack);
  const addresses = Array.from({ length: 60 }, (_, i) => (i * 71_582_789) % 2 ** 32);
  const text = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
  expect(addresses.map(place)).toEqual(
    addresses.map((address) => [geoip.lookup(text(address)).country, expect.any(String), '']),
  );
});

test("an operator's files supply provinces and networks, and a changed file makes another pack", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'geo-pack-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const [city, asn] = [path.join(dir, 'city.mmdb'), path.join(dir, 'asn.mmdb')];
  const placeIn = (code: string) => ({ country: { iso_code: 'TW' }, subdivisions: [{ iso_code: code }] });
  await writeFile(
    city,
    mmdb('City', [
      ['203.0.113.0/25', placeIn('TPE')],
      ['203.0.113.128/25', placeIn('KHH')],
    ]),
  );
  const hinet = { autonomous_system_number: 3462, autonomous_system_organization: 'HiNet' };
  await writeFile(asn, mmdb('ASN', [['203.0.113.0/24', hinet]]));
  const geoip = await openGeoip({ GEOIP_COUNTRY_FILE: city, GEOIP_ASN_FILE: asn }, log);
  const pack = await geoip.pack();
  const { place, network } = readerOf(pack);
  const lookUp = (address: string) => [place(numberOf(address)), network(numberOf(address))];
  expect(lookUp('203.0.113.1')).toEqual([
    ['TW', 'AS', 'TW-TPE'],
    [3462, 'HiNet'],
  ]);
  expect(lookUp('203.0.113.255')).toEqual([
    ['TW', 'AS', 'TW-KHH'],
    [3462, 'HiNet'],
  ]);
  for (const address of ['203.0.112.255', '203.0.114.0', '0.0.0.0', '255.255.255.255'])
    expect(lookUp(address)).toEqual([
      ['', '', ''],
      [0, ''],
    ]);
  await writeFile(city, mmdb('City', [['203.0.113.0/24', placeIn('TPE')]]));
  await geoip.refresh();
  expect((await geoip.pack()).version).not.toBe(pack.version);
});
