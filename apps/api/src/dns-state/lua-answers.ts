// A name's answers by line and weight, as the program that PowerDNS runs for each question (LUA record). The same sets make
// the same text. Values have been checked (records.ts): none of them can end a string.
import { carriers, chineseSpeaking } from '@edgeloom/contract/dns-setting/lines.ts';
import type { WantedSet } from './sets.ts';

/** Carriers before countries before continents: the narrower line takes a visitor first. */
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
      // An address that is in no list is nowhere, not abroad.
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

/** All of them; by weight one at a time, drawn anew for each question. */
function answer({ values }: WantedSet): string {
  const [first] = values;
  if (values.every(({ weight }) => weight === first?.weight)) return `{${listed(values.map(({ value }) => value))}}`;
  return `pickwrandom({${values.map(({ value, weight }) => `{${weight},'${value}'}`).join(',')}})`;
}
const listed = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(',');
