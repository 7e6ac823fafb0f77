import i18next from 'i18next';
import { beforeAll, expect, test } from 'vitest';
import { t } from '../../lib/i18n.ts';
import { words } from '../../locales/en/features.ts';
import { valueText } from './in-words.ts';

beforeAll(() => i18next.init({ lng: 'en', resources: { en: { translation: words } } }));

// One port of four digits was written as a count: 8,080.
test('ports are names, and none is a dash', () => {
  expect(valueText(t, 'ports', '8080')).toBe('8080');
  expect(valueText(t, 'ports', '')).toBe('—');
});

// What was typed as 100 MiB was foretold as 104.86 MB.
test('a size is told in the unit of its field', () => {
  expect(valueText(t, 'resource.bodyBytes', String(100 * 1024 ** 2))).toBe('100\u00a0MiB');
  expect(valueText(t, 'resource.cacheBytes', String(1.5 * 1024 ** 3))).toBe('1.5\u00a0GiB');
});
