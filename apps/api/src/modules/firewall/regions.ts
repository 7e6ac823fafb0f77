// Regions that a rule may name, with their names in the consoles' languages.
import type { GeoRegions } from '@edgeloom/contract/firewall/firewall.ts';
import { continentOf, continents, countries } from '../../geoip/continents.ts';
import { provinces } from './provinces.ts';

const languages = ['en', 'zh-TW', 'zh-CN'] as const;
const continentNames: Record<string, [string, string, string]> = {
  AF: ['Africa', '非洲', '非洲'],
  AN: ['Antarctica', '南極洲', '南极洲'],
  AS: ['Asia', '亞洲', '亚洲'],
  EU: ['Europe', '歐洲', '欧洲'],
  NA: ['North America', '北美洲', '北美洲'],
  OC: ['Oceania', '大洋洲', '大洋洲'],
  SA: ['South America', '南美洲', '南美洲'],
};
const namesOf = (name: (language: (typeof languages)[number], i: number) => string) => ({
  en: name('en', 0),
  'zh-TW': name('zh-TW', 1),
  'zh-CN': name('zh-CN', 2),
});

let regions: GeoRegions | null = null;

export function allRegions(): GeoRegions {
  regions ??= readRegions();
  return regions;
}

function readRegions(): GeoRegions {
  const displayNames = new Map(languages.map((one) => [one, new Intl.DisplayNames([one], { type: 'region' })]));
  return {
    continents: continents.map((continent) => ({
      geoID: `continent-${continent}`,
      continent,
      names: namesOf((_, i) => continentNames[continent]?.[i] ?? continent),
    })),
    countries: countries.map((country) => ({
      geoID: `country-${country}`,
      continent: continentOf(country),
      names: namesOf((language) => displayNames.get(language)?.of(country) ?? country),
    })),
    provinces: provinces.map(({ code, names }) => ({
      geoID: `province-${code}`,
      continent: continentOf(code.slice(0, 2)),
      names: namesOf((_, i) => names[i] ?? code),
    })),
  };
}

/** Whether a region has one of these texts in a name. */
export function isNamed(geoIDs: readonly string[], texts: readonly string[]): boolean {
  const wanted = texts.map((text) => text.toLowerCase());
  const { continents: ofContinents, countries: ofCountries, provinces: ofProvinces } = allRegions();
  return [...ofContinents, ...ofCountries, ...ofProvinces].some(
    ({ geoID, names }) =>
      geoIDs.includes(geoID) &&
      Object.values(names).some((name) => wanted.some((text) => name.toLowerCase().includes(text))),
  );
}
