import { ApiError } from '@edgeloom/contract/client.ts';
import { expect, test } from 'vitest';
import { learn } from '../../lib/i18n.ts';
import { words as english } from '../../locales/en/words.ts';
import { words as englishFrame } from '../../locales/en/frame.ts';
import { words as englishPages } from '../../locales/en/pages.ts';
import { words as chinese } from '../../locales/zh-TW/words.ts';
import { words as chineseFrame } from '../../locales/zh-TW/frame.ts';
import { words as chinesePages } from '../../locales/zh-TW/pages.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { causeOf } from './cause-of.ts';

const words = {
  en: { ...english, ...englishFrame, ...englishPages },
  'zh-TW': { ...chinese, ...chineseFrame, ...chinesePages },
};

const refused = (path: string, rule: string, values = {}) =>
  new ApiError(400, {
    isError: true,
    code: 101_003,
    message: 'Parameter Error',
    extra: {},
    reqID: 'r1',
    errorData: [{ path, rule, message: 'as the server says', values }],
  });

test.each([
  ['en', 'ip', 'policy', 'Address: This address is not allowed'],
  ['en', 'ssh.port', 'required', 'SSH port: Required'],
  ['zh-TW', 'ip', 'policy', '位址：不允許這個位址'],
] as const)('%s: a refusal of %s for %s names the field as its label does', (language, path, rule, text) => {
  usePreferences.setState({ language });
  learn(language, words[language]);
  expect(causeOf(refused(path, rule)).detail).toBe(text);
});
