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

/** Actions that only show what their row is about. Pages that list these rows are found by their titles. */
const shows = new Set([
  'audit.show',
  'certificates.show',
  'domains.open',
  'jobs.show',
  'mailbox.read',
  'preheatCaches.nodes',
  'purge.show',
  'versions.show',
]);

// Regression: "pause", "renew" or "act as" found nothing, because only tabs and sections were places.
test('each action on rows is a place', () => {
  const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^features.*\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
    .map(read)
    .filter((code) => /from '[^']*resource-table\/actions\.tsx'/.test(code));
  const labels = sources.flatMap((code) =>
    [
      ...code.matchAll(/\b(?:act|does|open|turnOn|turnOff)\b[^;]*?\blabel: [^',;]*'([\w.]+)'(?: : '([\w.]+)')?/g),
    ].flatMap(([, label = '', other]) => (other === undefined ? [label] : [label, other])),
  );
  const actions = new Set(labels.filter((label) => label.includes('.') && !label.startsWith('common.')));
  expect(actions.size).toBeGreaterThan(40);
  const known = new Set<string>(titles);
  expect([...actions].filter((label) => !known.has(label) && !shows.has(label))).toEqual([]);
});

test.each([
  [
    'en',
    [
      'purge',
      'clear cache',
      'roll back',
      'rollback',
      'firewall',
      'prefetch',
      'HSTS',
      'kill switch',
      '2fa',
      'pause',
      'renew',
      'act as',
    ],
  ],
  ['zh-TW', ['清除', '清除快取', '回復', '防火牆', '預熱', '兩步驟驗證', '暫停', '續期', '切換帳號']],
  ['zh-CN', ['清除', '清除缓存', '回滚', '防火墙', '预热', '两步验证', '暂停', '续期', '切换账号']],
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
