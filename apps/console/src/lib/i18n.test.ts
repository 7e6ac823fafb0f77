import { beforeAll, describe, expect, test } from 'vitest';
import { usePreferences } from '../stores/preferences.ts';
import {
  learn,
  learnFrame,
  learnPages,
  namesIn,
  partsOf,
  speak,
  startLanguage,
  switchPhrases,
  tMaybe,
} from './i18n.ts';
import { i18nextPhrases } from './i18next-phrases.ts';
import { plainPhrases } from './phrases.ts';

beforeAll(() => {
  usePreferences.setState({ language: 'en' });
  learn('en', {
    shop: {
      open: 'Open at {{hour}}',
      items_one: '{{count}} item',
      items_other: '{{count}} items',
      count: 'Stock {{count}}',
    },
    errors: { 'not a path. Use /': 'No path', banner: '{{name}} acts as <0>{{as}}</0>.' },
  });
});

describe.each([
  ['before the sign-in', plainPhrases],
  ['behind it', i18nextPhrases],
])('%s', (_, phrases) => {
  beforeAll(() => switchPhrases(phrases()));

  test('a phrase takes its values, and keeps the name of one that is missing', () => {
    expect(tMaybe('shop.open', { hour: '9' })).toBe('Open at 9');
    expect(tMaybe('shop.open')).toBe('Open at {{hour}}');
  });

  test('a value is text: braces in it mean nothing', () => {
    expect(tMaybe('shop.open', { hour: '{{hour}}$&' })).toBe('Open at {{hour}}$&');
  });

  test('a count chooses the plural form where the phrase has one', () => {
    expect([0, 1, 2].map((count) => tMaybe('shop.items', { count }))).toEqual(['0 items', '1 item', '2 items']);
    expect(tMaybe('shop.count', { count: 1 })).toBe('Stock 1');
    expect(tMaybe('shop.items', { count: 1 })).toBe('1 item');
  });

  test('a key may hold dots', () => {
    expect(tMaybe('errors.not a path. Use /')).toBe('No path');
  });

  test('an unknown key and a group of phrases have no phrase', () => {
    expect([tMaybe('shop.closed'), tMaybe('shop')]).toEqual([null, null]);
  });

  test('the names of a phrase are those of its values', () => {
    expect(namesIn('errors.banner')).toEqual(['name', 'as']);
  });

  test('marked parts of a phrase are separated, and a value cannot mark one', () => {
    expect(partsOf('errors.banner', { name: '<0>', as: 'b' })).toEqual([
      { text: '<0> acts as ', mark: null },
      { text: 'b', mark: 0 },
      { text: '.', mark: null },
    ]);
  });
});

test('a page that opens while the language changes has its phrases in the new language', async () => {
  usePreferences.setState({ language: 'en' });
  await startLanguage();
  await learnFrame();
  const opened = learnPages();
  await Promise.all([speak('zh-TW'), opened]);
  expect(tMaybe('robots.preview')).toBe('預覽 robots.txt');
  await speak('en');
  expect(tMaybe('robots.preview')).toBe('Preview of robots.txt');
});
