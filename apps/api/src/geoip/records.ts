// Fields of records of GeoIP databases.
import { clean } from '../node-link/incoming.ts';

const MAX_TEXT = 128;

export function placeFrom(place: unknown): { country: string; province: string } {
  const code =
    textAt(place, 'country', 'iso_code') ||
    textAt(place, 'registered_country', 'iso_code') ||
    textAt(place, 'country_code');
  // ZZ: unknown.
  const country = /^[A-Z]{2}$/.test(code) && code !== 'ZZ' ? code : '';
  const subdivision = textAt(place, 'subdivisions', '0', 'iso_code');
  const province =
    country !== '' && subdivision !== ''
      ? `${country}-${subdivision}`
      : textAt(place, 'subdivisions', '0', 'names', 'en');
  return { country, province };
}

export function networkFrom(network: unknown): { asn: number; isp: string } {
  const asn = valueAt(network, 'autonomous_system_number');
  return {
    asn: typeof asn === 'number' ? asn : 0,
    isp: textAt(network, 'autonomous_system_organization'),
  };
}

function textAt(record: unknown, ...path: string[]): string {
  const value = valueAt(record, ...path);
  return typeof value === 'string' ? clean(value, MAX_TEXT) : '';
}

function valueAt(record: unknown, ...path: string[]): unknown {
  let value = record;
  for (const name of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return value;
}
