import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CrawlerCategory, CrawlersInput } from './crawlers.ts';

const catalogue = path.join(import.meta.dirname, '../../../../agent/lua/edge/bots/catalogue.lua');

test('there is a category for each crawler that the edge knows', async () => {
  const text = await readFile(catalogue, 'utf8');
  const known = new Set([...text.matchAll(/category = "(\w+)"/g)].map(([, category]) => category));
  expect([...known, 'impostor'].toSorted()).toEqual(CrawlerCategory.options.toSorted());
});

test('a category has one rule', () => {
  const rules = [{ category: 'seo', action: 'block' }, { category: 'search' }, { category: 'seo' }];
  const { error } = CrawlersInput.safeParse({ rules });
  expect(error?.issues).toMatchObject([{ path: ['rules', 2, 'category'], message: 'named twice' }]);
  expect(CrawlersInput.parse({ rules: rules.slice(1) }).rules[0]).toEqual({
    category: 'search',
    action: 'allow',
    perMinute: 60,
    monitor: false,
  });
});
