// The palette offers every page's create action, in three languages.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { groups } from '@edgeloom/contract/all.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { expect, test } from 'vitest';
import { menu as adminMenu } from '../../consoles/admin/menu.ts';
import { menu as clientMenu } from '../../consoles/client/menu.ts';
import { siteViews } from '../../consoles/site-views.ts';
import { menu as userMenu } from '../../consoles/user/menu.ts';
import { elsewhere } from './elsewhere.ts';
import { innerCreations, nothing } from './inner-creations.ts';
import { fits, nearness, nounsOf } from './read-input.ts';

const source = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(file, 'utf8');

/** Source of the page and of its imports in the same folder. */
function textOf(file: string): string {
  const text = read(file);
  const parts = [...text.matchAll(/from '(\.\/[\w-]+\.tsx)'/g)].map(([, found = '']) =>
    read(path.join(path.dirname(file), found)),
  );
  return [text, ...parts].join('\n');
}
const makes = (file: string) => /data-main-action|<Page[^>]*\bcreate(s|=)|\{ create: form/s.test(textOf(file));

const consoles = { admin: adminMenu, client: clientMenu, user: userMenu };
const entries = Object.entries(consoles).flatMap(([kind, menu]) =>
  menu.flatMap((group) => group.entries.map((entry) => ({ kind, to: entry.to, creates: entry.creates }))),
);
const views = siteViews.flatMap((group) => group.views);

/** File of each page, from the route tables. */
function pageFile(kind: string, to: string): string | null {
  const table = read(path.join(source, `consoles/${kind}/routes.tsx`));
  const found = new RegExp(`path: '${to}',\\s+lazy: page\\(\\(\\) => import\\('([^']+)'`).exec(table)?.[1];
  return found === undefined ? null : path.join(source, 'consoles', kind, found);
}

test('the main action of each entry of a menu is a command', () => {
  const making = entries.filter(({ kind, to }) => {
    const file = pageFile(kind, to);
    return file !== null && makes(file);
  });
  expect(making.length).toBeGreaterThan(10);
  expect(making.filter(({ creates }) => creates === undefined).map(({ kind, to }) => `${kind} ${to}`)).toEqual([]);
});

test('the main action of each view of a site is a command', () => {
  const table = read(path.join(source, 'consoles/site-views.ts'));
  const parts = table.split(/(?=\bview: ')/).slice(1);
  const making = parts.filter((part) => {
    const file = /import\('([^']+)'\)/.exec(part)?.[1];
    return file !== undefined && makes(path.join(source, 'consoles', file));
  });
  expect(making.length).toBeGreaterThan(8);
  expect(making.filter((part) => !part.includes('creates:')).map((part) => part.slice(0, 24))).toEqual([]);
});

const nameOf = ({ feature, name }: Pick<Endpoint, 'feature' | 'name'>) => `${feature}.${name}`;
const isEndpoint = (call: object): call is Endpoint => 'feature' in call && 'name' in call;
/** Calls of all create commands. */
const offered = new Set(
  [...entries.map(({ creates }) => creates), ...views.map(({ creates }) => creates), ...innerCreations].flatMap(
    (creates) => (creates && isEndpoint(creates.call) ? [nameOf(creates.call)] : []),
  ),
);

test('each call that creates something is a command, or says why not', () => {
  const posts = Object.values(groups).flatMap((group) =>
    Object.values<Endpoint>(group).filter(({ method }) => method === 'POST'),
  );
  const names = new Set(posts.map(nameOf));
  expect([...names].filter((name) => !offered.has(name) && !(name in elsewhere))).toEqual([]);
  expect(Object.keys(elsewhere).filter((name) => offered.has(name) || !names.has(name))).toEqual([]);
});

test('each button that a command presses exists', () => {
  const sources = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tsx'));
  const text = sources.map((file) => read(path.join(source, file))).join('\n');
  const pressed = innerCreations.flatMap((creation) => creation.press?.(nothing) ?? []);
  const keys = pressed.flatMap((selector) =>
    [...selector.matchAll(/\[data-creates="([^"]+)"\]/g)].map(([, key]) => key),
  );
  expect(keys.length).toBeGreaterThan(8);
  // A list of rules passes the label of its button.
  const isThere = (key = '') => text.includes(`data-creates="${key}"`) || text.includes(`add="${key}"`);
  expect(keys.filter((key) => !isThere(key))).toEqual([]);
});

const titles = [
  ...entries.map(({ creates }) => creates),
  ...views.map(({ creates }) => creates),
  ...innerCreations,
].flatMap((creates) => (creates ? [creates.title] : []));
const verbs: Readonly<Record<string, readonly string[]>> = {
  en: ['add ', 'new ', 'create a '],
  'zh-TW': ['新增', '建立'],
  'zh-CN': ['新增', '创建'],
};

test.each(readdirSync(path.join(source, 'locales'), { withFileTypes: true }).filter((one) => one.isDirectory()))(
  '$name: each is found by its plain name and by other verbs',
  ({ name: language }) => {
    const wordOf = (title: string) => {
      const [feature = '', ...keys] = title.split('.');
      let found: unknown = JSON.parse(read(path.join(source, `locales/${language}/${feature}.json`)));
      for (const key of keys) found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
      return String(found);
    };
    for (const title of new Set(titles.map(wordOf))) {
      const line = { title, nouns: nounsOf(title) };
      expect(line.nouns.length, title).toBeGreaterThan(0);
      expect(nearness(line, title)).toBe(0);
      for (const verb of verbs[language] ?? []) {
        const typed = `${verb}${line.nouns.join(' ')}`;
        expect(fits(line, typed), typed).toBe(true);
        expect(nearness(line, typed), typed).toBe(0);
      }
    }
  },
);
