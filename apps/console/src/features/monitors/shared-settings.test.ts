import { expect, test } from 'vitest';
import { differingSettings, sharedSettings } from './shared-settings.ts';

test('a form for several nodes begins with the settings that are equal', () => {
  const one = { failAction: 'pause', port: 443, host: null };
  expect(sharedSettings([one])).toEqual(one);
  expect(sharedSettings([one, { ...one, port: 80 }])).toEqual({ failAction: 'pause', host: null });
  // Otherwise the removal from DNS of one node would be offered for all.
  expect(sharedSettings([null, one])).toEqual({});
  expect(sharedSettings([one, null])).toEqual({});
  expect(sharedSettings([null, null])).toEqual({});
});

test('a form for several nodes names the settings that it replaces', () => {
  const one = { failAction: 'pause', port: 443, host: null };
  const differing = (...all: (object | null)[]) => differingSettings(['failAction', 'port', 'host'], all);
  expect(differing(one, { ...one, port: 80, host: 'www.example.com' })).toEqual(['port', 'host']);
  expect(differing(null, one)).toEqual(['failAction', 'port', 'host']);
  expect(differing(one)).toEqual([]);
  expect(differing(null, null)).toEqual([]);
});
