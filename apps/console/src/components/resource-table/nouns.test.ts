import { beforeAll, expect, test } from 'vitest';
import { learn } from '../../lib/i18n.ts';
import { words as frame } from '../../locales/en/frame.ts';
import { words as pages } from '../../locales/en/pages.ts';
import { words } from '../../locales/en/words.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { nounOf } from './nouns.ts';

beforeAll(() => {
  usePreferences.setState({ language: 'en' });
  learn('en', { ...words, ...frame, ...pages });
});

test.each([
  ['zones', 2, 'zones'],
  ['clientSites', 1, 'site'],
  ['domains', 60, 'domains'],
  ['siteAntiHeaders', 3, 'header rules'],
  ['unknown', 2, null],
])('rows of %s, %i of them, are %s', (feature, count, noun) => expect(nounOf(feature, count)).toBe(noun));
