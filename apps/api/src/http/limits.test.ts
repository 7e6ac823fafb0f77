import { groups } from '@edgeloom/contract/all.ts';
import { expect, test } from 'vitest';
import { classOf } from './limits.ts';

test('every call has a class, and calls without session are not plain writes', () => {
  const endpoints = groups.flatMap((group) => Object.values(group));
  const open = endpoints.filter(({ can, method }) => can === 'anyone' && method !== 'GET');
  const odd = open.filter((endpoint) => !['signIn', 'mail'].includes(classOf(endpoint)));
  // A refresh token has 256 random bits and cannot be guessed.
  expect(odd.map(({ feature, name }) => `${feature}.${name}`)).toEqual(['auth.refresh']);
});
