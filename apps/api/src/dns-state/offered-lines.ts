// Maps our lines to each provider's. Only lines that the provider lists count. Others use the default line.
import type { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { carriers, commonLines, continents, type Line } from '@edgeloom/contract/dns-setting/lines.ts';
import type { DnsLine } from '../dns/account.ts';

/** Our line → the provider's. */
export type OfferedLines = Readonly<Record<string, string>>;

type Named = Partial<Record<Line, string>>;
const codes: Record<DnsProvider, Named> = {
  powerDNS: {},
  cloudflare: {},
  route53: {},
  dnspod: { ct: '10=0', cu: '10=1', cm: '10=3', overseas: '3=0' },
  aliDNS: { ct: 'telecom', cu: 'unicom', cm: 'mobile', overseas: 'oversea' },
  huaweiCloud: { ct: 'Dianxin', cu: 'Liantong', cm: 'Yidong', overseas: 'Abroad' },
};

/** Every named country, by its code. */
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const chinese = new Intl.DisplayNames('zh-Hans', { type: 'region', fallback: 'none' });
const countries = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((code) => english.of(code) !== undefined && !['EU', 'EZ', 'UN', 'XA', 'XB', 'ZZ', 'QO'].includes(code));

const continentNames: Record<(typeof continents)[number], readonly string[]> = {
  AF: ['Africa', '非洲'],
  AN: ['Antarctica', '南极洲'],
  AS: ['Asia', '亚洲'],
  EU: ['Europe', '欧洲'],
  NA: ['North America', '北美洲'],
  OC: ['Oceania', '大洋洲'],
  SA: ['South America', '南美洲'],
};
/** Names that differ between vendors. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  TW: ['Taiwan (China)', 'Taiwan, China', '中国台湾'],
  HK: ['Hong Kong', 'Hong Kong (China)', 'Hong Kong, China', '中国香港', '香港'],
  MO: ['Macao', 'Macau', 'Macao (China)', 'Macao, China', '中国澳门', '澳门'],
  KR: ['Korea', '韩国'],
  GB: ['UK', '英国'],
};

const placesByName = new Map<string, Line>([
  ...continents.flatMap((code) => continentNames[code].map((name): [string, Line] => [name, `continent-${code}`])),
  ...countries.flatMap((code) =>
    [english.of(code), chinese.of(code), ...(otherNames[code] ?? [])].flatMap((name): [string, Line][] =>
      name === undefined ? [] : [[name, `country-${code}`]],
    ),
  ),
]);

export function offeredLines(provider: DnsProvider, listed: readonly DnsLine[]): OfferedLines {
  const ids = new Set(listed.map(({ id }) => id));
  if (provider === 'powerDNS') return byPrograms(ids);
  const coded = Object.entries(codes[provider]).flatMap(([line, id]) =>
    id !== undefined && ids.has(id) ? [[line, id] as const] : [],
  );
  const placed = listed.flatMap(({ id, name }) => {
    const line = provider === 'route53' ? route53Line(id) : placesByName.get(name);
    return line === undefined ? [] : [[line, id] as const];
  });
  return Object.fromEntries([...placed, ...coded]);
}

/** Lines that PowerDNS' Lua functions can look up. */
function byPrograms(ids: ReadonlySet<string>): OfferedLines {
  const places = [...countries.map((code) => `country-${code}`), ...continents.map((code) => `continent-${code}`)];
  const lines = [
    ...(ids.has('networks') ? Object.keys(carriers) : []),
    ...(ids.has('places') ? ['overseas', ...places] : []),
  ];
  return Object.fromEntries(lines.map((line) => [line, line]));
}

function route53Line(id: string): Line | undefined {
  if (id.startsWith('continent-')) return id;
  return /^[A-Z]{2}$/.test(id) ? `country-${id}` : undefined;
}

/** Choices for the console: common lines, then places, with the providers that support each. */
export const knownLines: readonly Line[] = [
  ...commonLines,
  ...continents.map((code) => `continent-${code}`),
  ...countries.map((code) => `country-${code}`),
];
