// Country, province and network operator of client addresses, from databases in MaxMind's format (MMDB). A database of
// countries is part of the installation. Operators may configure their own files.
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Reader } from 'mmdb-lib';
import type { CountrySource } from '@edgeloom/contract/statistics/statistics.ts';
import type { Env } from '../core/env.ts';
import { geoipBuilt } from '../core/metrics.ts';
import { buildGeoPack, type GeoDatabase, type GeoPack } from './geo-pack.ts';
import { networkFrom, placeFrom } from './records.ts';

const bundledCountries = import.meta.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb');
const MAX_CACHED = 20_000;
/** The longest text of an IPv6 address. */
const MAX_ADDRESS = 45;

/** Texts are empty if unknown. */
export interface Location {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** ISO 3166-2 (`TW-TPE`), or the English name if the database has no codes. */
  readonly province: string;
  /** Organisation of the autonomous system. */
  readonly isp: string;
}

export interface Geoip {
  /** Any text is accepted; one that is not an address has no location. */
  lookup: (address: string) => Location;
  /** A configured file that cannot be read at the start leaves the bundled database in use. */
  countrySource: () => CountrySource;
  /** Reads changed files. A file that cannot be used is logged, and the previous one stays. */
  refresh: () => Promise<void>;
  /** Contains the files in use. Compiled when it is first needed. */
  pack: () => Promise<GeoPack>;
}

interface GeoipLog {
  info: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
}

const unknown: Location = { country: '', province: '', isp: '' };

export async function openGeoip(
  { GEOIP_COUNTRY_FILE, GEOIP_ASN_FILE }: Pick<Env, 'GEOIP_COUNTRY_FILE' | 'GEOIP_ASN_FILE'>,
  log: GeoipLog,
): Promise<Geoip> {
  const countries = openDatabase('country', GEOIP_COUNTRY_FILE, log);
  const networks = openDatabase('asn', GEOIP_ASN_FILE, log);
  await countries.load(fileURLToPath(bundledCountries));
  let recent = new Map<string, Location>();
  let older = new Map<string, Location>();
  let pack: Promise<GeoPack> | null = null;

  const geoip: Geoip = {
    lookup(address) {
      const cached = recent.get(address);
      if (cached !== undefined) return cached;
      if (address.length > MAX_ADDRESS || isIP(address) === 0) return unknown;
      const location = older.get(address) ?? locationOf(countries.find(address), networks.find(address));
      // Two generations approximate a cache of the least recently used addresses.
      if (recent.size >= MAX_CACHED) [older, recent] = [recent, new Map()];
      recent.set(address, location);
      return location;
    },
    countrySource: () => (countries.isOwn() ? 'own' : 'bundled'),
    async refresh() {
      const changes = await Promise.all([countries.refresh(), networks.refresh()]);
      if (!changes.includes(true)) return;
      [older, recent] = [new Map(), new Map()];
      pack = null;
    },
    pack() {
      const database = countries.database();
      if (database === null) return Promise.reject(new Error('there is no database of countries'));
      pack ??= buildGeoPack(database, networks.database());
      return pack;
    },
  };
  await geoip.refresh();
  return geoip;
}

function openDatabase(name: string, file: string | undefined, log: GeoipLog) {
  let loaded: GeoDatabase | null = null;
  let version = '';

  async function load(path: string) {
    loaded = await readDatabase(path);
    geoipBuilt.set({ database: name }, loaded.reader.metadata.buildEpoch.getTime() / 1000);
  }

  return {
    load,
    database: () => loaded,
    /** True once the configured file was read. */
    isOwn: () => version !== '',
    find(address: string): unknown {
      const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
      const reader = loaded?.reader;
      if (!reader || (reader.metadata.ipVersion === 4 && plain.includes(':'))) return null;
      try {
        return reader.get(plain);
      } catch {
        // A damaged part of the file.
        return null;
      }
    },
    /** True if another file is in use now. */
    async refresh(): Promise<boolean> {
      if (file === undefined) return false;
      try {
        const { mtimeMs, size, ino } = await stat(file);
        const current = `${mtimeMs} ${size} ${ino}`;
        if (current === version) return false;
        await load(file);
        version = current;
        log.info({ file }, `the ${name} database was read`);
        return true;
      } catch (error) {
        log.error({ err: error, file }, `the ${name} database cannot be used; the previous one stays`);
        return false;
      }
    },
  };
}

/** Throws if the file is damaged. */
async function readDatabase(file: string): Promise<GeoDatabase> {
  const bytes = await readFile(file);
  const reader = new Reader<never>(bytes);
  const { nodeCount, searchTreeSize } = reader.metadata;
  if (!Number.isInteger(nodeCount) || searchTreeSize > bytes.length) throw new Error('not a MaxMind database');
  // The reader checks only the metadata, so read a record of each part of the tree.
  for (let i = 0; i < 256; i += 1) reader.get(`${i}.1.1.1`);
  return { bytes, reader };
}

function locationOf(place: unknown, network: unknown): Location {
  const { country, province } = placeFrom(place);
  const { isp } = networkFrom(network);
  return country === '' && province === '' && isp === '' ? unknown : { country, province, isp };
}
