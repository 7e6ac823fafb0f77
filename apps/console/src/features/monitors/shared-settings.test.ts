import { expect, test } from 'vitest';
import { sharedSettings } from './shared-settings.ts';

test('a form for several nodes begins with the settings that are equal', () => {
  const one = { failAction: 'pause', port: 443, host: null };
  expect(sharedSettings([one])).toEqual(one);
  expect(sharedSettings([one, { ...one, port: 80 }])).toEqual({ failAction: 'pause', host: null });
  expect(sharedSettings([null, one])).toEqual(one);
  expect(sharedSettings([null, null])).toEqual({});
});
