// Names of lines. Carriers have proper names; countries are named in the reader's language.
import { carriers, commonLines, continents } from '@edgeloom/contract/dns-setting/lines.ts';
import { currentLanguage, t, tMaybe } from '../../lib/i18n.ts';

export function lineName(line: string): string {
  const [kind = '', place = ''] = line.split('-');
  if (kind === 'country' && /^[A-Z]{2}$/.test(place)) return placeNames().of(place) ?? place;
  if (kind === 'continent') return tMaybe(`groups.continents.${place}`) ?? place;
  return tMaybe(`groups.lineNames.${line}`) ?? line;
}

const carrierOf = new Map<string, { country: string; networks: readonly number[] }>(Object.entries(carriers));

/** Region in short: `TW · AS3462`. */
export function lineRegion(line: string): string {
  if (line === 'default') return t('groups.everybodyElse');
  if (line === 'overseas') return t('groups.overseasOf');
  const carrier = carrierOf.get(line);
  if (!carrier) return line.split('-')[1] ?? '';
  const [network] = carrier.networks;
  return carrier.networks.length === 1 ? `${carrier.country} · AS${network}` : carrier.country;
}

/** Order of the board: common lines first, then regions by name. */
export function inOrder(lines: Iterable<string>): string[] {
  const place = (line: string) => {
    const found = commonLines.indexOf(line);
    return found === -1 ? commonLines.length : found;
  };
  const names = new Intl.Collator(currentLanguage());
  return [...new Set(lines)].toSorted((a, b) => place(a) - place(b) || names.compare(lineName(a), lineName(b)));
}

/** All available lines: common ones, continents, countries. */
export function allLines(): string[] {
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const names = placeNames();
  // Intl also has names for codes that are not countries.
  const none = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);
  const countries = codes.filter((code) => !none.has(code) && names.of(code) !== undefined);
  return [
    ...commonLines.filter((line) => line !== 'default'),
    ...continents.map((code) => `continent-${code}`),
    ...inOrder(countries.map((code) => `country-${code}`)),
  ];
}

const placeNames = () => new Intl.DisplayNames([currentLanguage()], { type: 'region', fallback: 'none' });
