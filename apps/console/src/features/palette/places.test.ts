// The palette offers every tab and section, and finds them and the verbs by plain words.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { siteViews } from '../../consoles/site-views.ts';
import { pagesOfPlaces, synonyms } from './places.ts';
import { fits } from './read-input.ts';

const source = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(source, file), 'utf8');
const screens = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));
const text = screens.map(read).join('\n');
const titles = pagesOfPlaces.flatMap(({ tabs }) => Object.values(tabs).flat());

/** Parts of one account's page, of which there is no list to ask from. */
const ofAnAccount = /^accounts\.(sections|tabs)\./;

test('each tab of a page is a place, under its own name', () => {
  const tabs = [...text.matchAll(/\{\s*value: '([\w]+)',\s*label: '([\w.]+\.(?:tab|tabs\.\w+|title))'/g)];
  expect(tabs.length).toBeGreaterThan(40);
  const missing = tabs.filter(
    ([, value = '', label = '']) =>
      !ofAnAccount.test(label) && !pagesOfPlaces.some((page) => page.tabs[value]?.some((title) => title === label)),
  );
  expect(missing.map(([whole]) => whole)).toEqual([]);
});

test('each section of a page is a place', () => {
  const sections = [...text.matchAll(/<Section\s+title="([\w.]+)"/g)].map(([, title = '']) => title);
  expect(sections.length).toBeGreaterThan(60);
  const known = new Set<string>(titles);
  expect([...new Set(sections)].filter((title) => !known.has(title) && !ofAnAccount.test(title))).toEqual([]);
});

test.each([
  ['en', ['purge', 'clear cache', 'roll back', 'rollback', 'firewall', 'prefetch', 'HSTS', 'kill switch', '2fa']],
  ['zh-TW', ['清除', '清除快取', '回復', '防火牆', '預熱', '兩步驟驗證']],
  ['zh-CN', ['清除', '清除缓存', '回滚', '防火墙', '预热', '两步验证']],
])('%s: plain words find a place', (language, words) => {
  const wordOf = (title: string) => {
    const [feature = '', ...keys] = title.split('.');
    let found: unknown = JSON.parse(read(`locales/${language}/${feature}.json`));
    for (const key of keys) found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
    return String(found);
  };
  const views = siteViews.flatMap((group) => group.views.map(({ title }) => title));
  const items = [...titles, ...views].map((title) => {
    const also = synonyms[title];
    return { title: wordOf(title), also: also && wordOf(also) };
  });
  expect(items.filter(({ title }) => title === 'undefined')).toEqual([]);
  for (const typed of words) expect(items.filter((item) => fits(item, typed)).length, typed).toBeGreaterThan(0);
});
