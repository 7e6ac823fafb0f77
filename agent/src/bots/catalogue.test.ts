import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { botValues } from '@edgeloom/contract/acl/acl.ts';
import { expect, test } from 'vitest';

const lua = (file: string) => readFile(path.join(import.meta.dirname, '../../lua/edge', file), 'utf8');
const valuesOf = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, value = '']) => value)),
];

test('rules accept the categories and states that the edge gives to bots, and no others', async () => {
  const categories = valuesOf(await lua('bots/catalogue.lua'), /category = "(\w+)"/g);
  expect(categories.toSorted()).toEqual(botValues['botCategory']?.toSorted());
  const [, states = ''] = /for _, state in ipairs\(\{(.+)\}\)/.exec(await lua('core/bots.lua')) ?? [];
  expect(valuesOf(states, /"(\w+)"/g).toSorted()).toEqual(botValues['botState']?.toSorted());
});

test('docs/edge.md names a source for each domain of the catalogue', async () => {
  const catalogue = await lua('bots/catalogue.lua');
  const inCatalogue = [...catalogue.matchAll(/name = "([^"]+)".*suffixes = \{ (.+) \}/g)].flatMap(
    ([, bot, domains = '']) => valuesOf(domains, /"([^"]+)"/g).map((domain) => `${bot} ${domain}`),
  );
  const docs = await readFile(path.join(import.meta.dirname, '../../../docs/edge.md'), 'utf8');
  const [, table = ''] = docs.split('| bot | domain | where the vendor says so |');
  const rows = [...table.matchAll(/^\| (\w[^|]*) \| (`[^|]*) \| (.+) \|$/gm)];
  const inDocs = rows.flatMap(([, bots = '', domains = '']) =>
    bots.split(', ').flatMap((bot) => valuesOf(domains, /`([^`]+)`/g).map((domain) => `${bot} ${domain}`)),
  );
  expect(inDocs.toSorted()).toEqual(inCatalogue.toSorted());
});
