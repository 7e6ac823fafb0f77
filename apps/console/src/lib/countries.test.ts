import { expect, test } from 'vitest';
import { countryName } from './countries.ts';

test('countries have their names in the language of the console, unknown codes stay', () => {
  expect(countryName('TW', 'en')).toBe('Taiwan');
  expect(countryName('TW', 'zh-TW')).toBe('台灣');
  expect(countryName('JP', 'zh-CN')).toBe('日本');
  expect(countryName('QX', 'en')).toBe('QX');
  expect(countryName('somewhere', 'en')).toBe('somewhere');
});
