// The PowerDNS LUA record of a name: responses by line and weight. Equal sets make equal text. Values were validated
// (records.ts) and cannot end a string.
import { carriers, chineseSpeaking } from '@edgeloom/contract/dns-setting/lines.ts';
import type { WantedSet } from './sets.ts';

/** Most specific first: carriers, countries, continents. */
const orders = ['carrier', 'country', 'continent', 'overseas', 'default'] as const;

export const luaAnswer = (type: 'A' | 'AAAA', sets: readonly WantedSet[]): string =>
  `${type} ";${sets
    .map((set) => ({ ...set, rank: orders.indexOf(kindOf(set.line)) }))
    .toSorted((a, b) => a.rank - b.rank || (a.line < b.line ? -1 : 1))
    .map((set) => branch(set))
    .join(' ')}${sets.some(({ line }) => line === 'default') ? '' : ' return {}'}"`;

function branch(set: WantedSet): string {
  const holds = condition(set.line);
  return holds === null ? `return ${answer(set)}` : `if ${holds} then return ${answer(set)} end`;
}

const kindOf = (line: string): (typeof orders)[number] => {
  if (line === 'default' || line === 'overseas') return line;
  if (line.startsWith('country-')) return 'country';
  return line.startsWith('continent-') ? 'continent' : 'carrier';
};

function condition(line: string): string | null {
  const [, code] = line.split('-');
  switch (kindOf(line)) {
    case 'default':
      return null;
    case 'overseas':
      // An address without a country counts as domestic.
      return `countryCode() ~= '--' and not country({${listed(chineseSpeaking)}})`;
    case 'country':
      return `country('${code}')`;
    case 'continent':
      return `continent('${code}')`;
    case 'carrier': {
      const networks = Object.entries(carriers).find(([name]) => name === line)?.[1].networks ?? [];
      return `asnum({${networks.map((network) => `'${network}'`).join(',')}})`;
    }
  }
}

/** All values, or with weights one at random per query. */
function answer({ values }: WantedSet): string {
  const [first] = values;
  if (values.every(({ weight }) => weight === first?.weight)) return `{${listed(values.map(({ value }) => value))}}`;
  return `pickwrandom({${values.map(({ value, weight }) => `{${weight},'${value}'}`).join(',')}})`;
}
const listed = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(',');
