import { TokenAuthItem } from '@edgeloom/contract/modules/token-auths.ts';
import { tokenPresets } from '@edgeloom/contract/modules/token-presets.ts';
import { expect, test } from 'vitest';
import { exampleOf, formOf, freshEntry, newKey, presetOf } from './token-form.ts';

test('a known form is recognised while none of its fields is changed; how long it is good is not one of them', () => {
  for (const { id } of tokenPresets) {
    const known = presetOf({ ...freshEntry(), ...formOf(id), validSeconds: 7 });
    expect(JSON.stringify(formOf(known ?? ''))).toBe(JSON.stringify(formOf(id)));
  }
  expect(presetOf({ ...freshEntry(), text: '{path}{time}{key}' })).toBeNull();
});

test('a new entry is valid and has a unique key', () => {
  expect(TokenAuthItem.safeParse(freshEntry()).error).toBeUndefined();
  expect(new Set(Array.from({ length: 50 }, newKey)).size).toBe(50);
  expect(newKey()).toMatch(/^[A-Za-z2-9]{32}$/);
});

test('what a token looks like is shown as it stands in a request', () => {
  const parts = [
    { name: 'sign', format: '{sign}' },
    { name: 't', format: '{time}' },
  ];
  expect(exampleOf({ place: 'query', parts })).toBe('…?sign={sign}&t={time}');
  expect(exampleOf({ place: 'header', parts })).toBe('sign: {sign}, t: {time}');
  expect(exampleOf({ place: 'cookie', parts })).toBe('Cookie: sign={sign}; t={time}');
  expect(exampleOf({ place: 'path', parts: [{ name: '', format: '{time}/{sign}' }] })).toBe('/{time}/{sign}/…');
});
