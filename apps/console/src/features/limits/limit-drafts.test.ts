import { expect, test } from 'vitest';
import { countedBy, frequencyFaults, headerOf, newFrequency, sourceOf } from './limit-drafts.ts';

test.each([
  ['X-Api-Key', { source: 'header', name: 'X-Api-Key' }],
  ['cookie:session', { source: 'cookie', name: 'session' }],
  ['arg:', { source: 'arg', name: '' }],
] as const)('%s has a source and a name', (header, parts) => {
  expect(sourceOf(header)).toEqual(parts);
  expect(headerOf(parts.source, parts.name)).toBe(header);
});

test.each([
  [1, '', 1],
  [1, 'cookie:session', 1],
  [4, 'X-Api-Key', 4],
  [4, 'cookie:session', 'cookie'],
  [4, 'arg:key', 'arg'],
] as const)('type %i with "%s" is shown as %s', (type, header, shown) => {
  expect(countedBy({ type, header })).toBe(shown);
});

test('a cookie without a name is an error of its field', () => {
  expect(frequencyFaults({ ...newFrequency(), type: 4, header: 'cookie:' })).toHaveProperty('header');
  expect(frequencyFaults({ ...newFrequency(), type: 4, header: 'cookie:session' })).toEqual({});
});
