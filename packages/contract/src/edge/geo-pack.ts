// The format of the geo pack: where addresses are, for nodes (agent/lua/edge/core/geo.lua). The control plane compiles
// it from its GeoIP databases, and sends it as documents: `pack/geo`, and its parts `pack/geo.<n>`.
//
//   "EDGEGEO1", then 32-bit little-endian: n4, n6 (places), m4, m6 (networks), bytes of the table
//   start[n4]  high[n6] low[n6]  start[m4]  high[m6] low[m6]   where ranges begin; IPv6 by its upper 64 bits
//   network[m4] network[m6]                                    32-bit indexes into the table
//   place[n4] place[n6]                                        16-bit indexes into the table
//   table                                                      JSON
//
// A range ends where the next one begins. The first entry of each list of the table is the unknown one.
const MAGIC = 'EDGEGEO1';
const HEADER = 28;

/** Texts are empty if unknown. */
export interface GeoPlace {
  country: string;
  continent: string;
  /** ISO 3166-2 (`TW-TPE`). */
  province: string;
}
export interface GeoNetwork {
  /** 0: unknown. */
  asn: number;
  isp: string;
}

/** Ranges of one address family, with indexes into the table. */
export interface GeoRanges {
  /** IPv4: the address. IPv6: the upper 32 bits. */
  high: number[];
  /** IPv6 only. */
  low: number[];
  index: number[];
}
export interface GeoTables {
  places: GeoPlace[];
  networks: GeoNetwork[];
}
export interface GeoContent extends GeoTables {
  place: { 4: GeoRanges; 6: GeoRanges };
  network: { 4: GeoRanges; 6: GeoRanges };
}

export function encodeGeoPack({ place, network, places, networks }: GeoContent): Buffer {
  const table = Buffer.from(
    JSON.stringify({
      places: places.map(({ country, continent, province }) => [country, continent, province]),
      networks: networks.map(({ asn, isp }) => [asn, isp]),
    }),
  );
  const counts = [place[4], place[6], network[4], network[6]].map(({ high }) => high.length);
  const words = [...counts, table.length];
  const starts = [place[4].high, place[6].high, place[6].low, network[4].high, network[6].high, network[6].low];
  const wide = [...starts, network[4].index, network[6].index];
  const narrow = [place[4].index, place[6].index];
  const sum = (lists: number[][]) => lists.reduce((all, { length }) => all + length, 0);
  const file = Buffer.alloc(HEADER + 4 * sum(wide) + 2 * sum(narrow) + table.length);
  let at = file.write(MAGIC, 'latin1');
  for (const word of words) at = file.writeUInt32LE(word, at);
  for (const list of wide) for (const word of list) at = file.writeUInt32LE(word, at);
  for (const list of narrow) for (const word of list) at = file.writeUInt16LE(word, at);
  table.copy(file, at);
  return file;
}
