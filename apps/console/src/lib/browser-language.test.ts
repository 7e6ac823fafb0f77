import { expect, test } from 'vitest';
import { languageFor } from './browser-language.ts';

test.each([
  [['zh-TW'], 'zh-TW'],
  [['zh-Hant'], 'zh-TW'],
  [['zh-HK', 'en'], 'zh-TW'],
  [['zh-Hant-CN'], 'zh-TW'],
  [['yue'], 'zh-TW'],
  [['zh'], 'zh-CN'],
  [['zh-CN', 'en-US'], 'zh-CN'],
  [['zh-SG'], 'zh-CN'],
  [['zh-Hans-HK'], 'zh-CN'],
  [['en'], 'en'],
  [['en-GB'], 'en'],
  [['fr-FR', 'en-US'], 'en'],
  [['de', 'fr'], 'zh-TW'],
  [['x', 'not a tag'], 'zh-TW'],
  [[], 'zh-TW'],
] as const)('a browser that asks for %j gets %s', (tags, language) => expect(languageFor(tags)).toBe(language));
