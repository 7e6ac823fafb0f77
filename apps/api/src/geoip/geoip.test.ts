import { mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { COUNTRY_SOURCE } from '@edgeloom/contract/geoip/attribution.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mmdb } from '../../../../tests/support/builders/mmdb.ts';
import { openGeoip } from './geoip.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'geoip-'));
});
afterAll(() => rm(dir, { recursive: true }));

const empty = { country: '', province: '', isp: '' };
const taipei = { country: { iso_code: 'TW' }, subdivisions: [{ iso_code: 'TPE', names: { en: 'Taipei City' } }] };
const osaka = { country: { iso_code: 'JP' }, subdivisions: [{ names: { en: 'Osaka' } }] };

/** Collects the messages of errors. */
function collectErrors() {
  const errors: string[] = [];
  const log = { info: () => undefined, error: (_: object, message: string) => void errors.push(message) };
  return { errors, log };
}

/** Replaces the file with a later modification time. */
let seconds = 1_800_000_000;
async function replace(file: string, bytes: Buffer) {
  await writeFile(`${file}.new`, bytes);
  seconds += 1;
  await utimes(`${file}.new`, seconds, seconds);
  await rename(`${file}.new`, file);
}

test('the bundled database knows the countries of IPv4 and IPv6 addresses', async () => {
  const { errors, log } = collectErrors();
  const geoip = await openGeoip({}, log);
  expect(geoip.lookup('168.95.1.1')).toEqual({ ...empty, country: 'TW' });
  expect(geoip.lookup('::ffff:168.95.1.1')).toEqual({ ...empty, country: 'TW' });
  expect(geoip.lookup('2001:b000::1')).toEqual({ ...empty, country: 'TW' });
  expect(geoip.lookup('202.96.128.86')).toEqual({ ...empty, country: 'CN' });
  expect(errors).toEqual([]);
});

test.each([
  '',
  'localhost',
  '10.0.0.1',
  '256.1.1.1',
  '1.1.1',
  '::1',
  '__proto__',
  `fe80::1%${'a'.repeat(99)}`,
  '1.1.1.1\0',
])('%j has no location', async (address) => {
  const geoip = await openGeoip({}, collectErrors().log);
  expect(geoip.lookup(address)).toEqual(empty);
});

test("an operator's files supply province and network", async () => {
  const [city, asn] = [path.join(dir, 'city.mmdb'), path.join(dir, 'asn.mmdb')];
  await writeFile(
    city,
    mmdb('GeoLite2-City', [
      ['203.0.113.0/25', taipei],
      ['203.0.113.128/25', osaka],
      ['192.0.2.0/25', { country: { iso_code: 'ZZ' } }],
      ['192.0.2.128/25', { registered_country: { iso_code: 'FR' } }],
    ]),
  );
  await writeFile(asn, mmdb('GeoLite2-ASN', [['203.0.113.0/24', { autonomous_system_organization: 'HiNet\0' }]]));
  const { errors, log } = collectErrors();
  const geoip = await openGeoip({ GEOIP_COUNTRY_FILE: city, GEOIP_ASN_FILE: asn }, log);
  expect(geoip.lookup('203.0.113.1')).toEqual({ country: 'TW', province: 'TW-TPE', isp: 'HiNet' });
  expect(geoip.lookup('203.0.113.200')).toEqual({ country: 'JP', province: 'Osaka', isp: 'HiNet' });
  expect(geoip.lookup('192.0.2.1')).toEqual(empty);
  expect(geoip.lookup('192.0.2.200')).toEqual({ ...empty, country: 'FR' });
  // The file has only IPv4: other addresses are unknown, and the bundled database is not used beside it.
  expect(geoip.lookup('2001:b000::1')).toEqual(empty);
  expect(geoip.lookup('168.95.1.1')).toEqual(empty);
  expect(errors).toEqual([]);
});

test('a changed file is used after a refresh, and a damaged one is not', async () => {
  const file = path.join(dir, 'changing.mmdb');
  await replace(file, mmdb('Country', [['203.0.113.0/24', taipei]]));
  const { errors, log } = collectErrors();
  const geoip = await openGeoip({ GEOIP_COUNTRY_FILE: file }, log);
  expect(geoip.lookup('203.0.113.1').country).toBe('TW');

  await replace(file, mmdb('Country', [['203.0.113.0/24', osaka]]));
  expect(geoip.lookup('203.0.113.1').country).toBe('TW');
  await geoip.refresh();
  expect(geoip.lookup('203.0.113.1').country).toBe('JP');

  const whole = mmdb('Country', [['203.0.113.0/24', taipei]]);
  for (const damaged of [
    Buffer.alloc(0),
    Buffer.from('not a database'),
    whole.subarray(0, whole.length - 90),
    cut(whole),
  ]) {
    errors.length = 0;
    await replace(file, damaged);
    await geoip.refresh();
    expect(errors).toEqual([expect.stringContaining('the previous one stays')]);
    expect(geoip.lookup('203.0.113.1').country).toBe('JP');
  }
  await rm(file);
  await geoip.refresh();
  expect(geoip.lookup('203.0.113.1').country).toBe('JP');

  errors.length = 0;
  await replace(file, whole);
  await geoip.refresh();
  expect(errors).toEqual([]);
  expect(geoip.lookup('203.0.113.1').country).toBe('TW');
});

/** Only the second half, with the metadata but without most of the tree. */
const cut = (bytes: Buffer) => bytes.subarray(Math.floor(bytes.length * 0.6));

test('the bundled database is used as long as the configured file is missing', async () => {
  const { errors, log } = collectErrors();
  const geoip = await openGeoip({ GEOIP_COUNTRY_FILE: path.join(dir, 'missing.mmdb') }, log);
  expect(errors).toHaveLength(1);
  expect(geoip.lookup('168.95.1.1').country).toBe('TW');
});

test('countries are of the bundled database until the configured file can be read', async () => {
  const file = path.join(dir, 'later.mmdb');
  const bundled = await openGeoip({}, collectErrors().log);
  const geoip = await openGeoip({ GEOIP_COUNTRY_FILE: file }, collectErrors().log);
  expect([bundled.countrySource(), geoip.countrySource()]).toEqual(['bundled', 'bundled']);
  await replace(file, Buffer.from('not a database'));
  await geoip.refresh();
  expect(geoip.countrySource()).toBe('bundled');
  await replace(file, mmdb('Country', [['203.0.113.0/24', taipei]]));
  await geoip.refresh();
  expect(geoip.countrySource()).toBe('own');
  // The previous file stays in use.
  await rm(file);
  await geoip.refresh();
  expect(geoip.countrySource()).toBe('own');
});

test('more addresses than the cache holds keep their locations', async () => {
  const geoip = await openGeoip({}, collectErrors().log);
  const lookUpMany = () =>
    Array.from({ length: 25_000 }, (_, i) => geoip.lookup(`168.95.${i >> 8}.${i & 255}`).country);
  const countries = lookUpMany();
  expect(countries.slice(0, 1000)).toContain('TW');
  expect(lookUpMany()).toEqual(countries);
});

test('the manual credits the source of the bundled database', async () => {
  const manual = await readFile(new URL('../../../../docs/statistics.md', import.meta.url), 'utf8');
  expect(manual).toContain(`[${COUNTRY_SOURCE.name}](${COUNTRY_SOURCE.url})`);
  expect(manual).toContain(`[${COUNTRY_SOURCE.license}](${COUNTRY_SOURCE.licenseUrl})`);
});
