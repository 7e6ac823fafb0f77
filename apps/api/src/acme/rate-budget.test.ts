import { expect, test } from 'vitest';
import { roomFor } from './rate-budget.ts';

test.each([
  ['a site that has had much shares three quarters of what an authority takes', { site: 15, client: 20 }, 225],
  ['a site that has had little has all of it', { site: 14, client: 20 }, 300],
  ['of a client that has had much no site uses the last quarter', { site: 0, client: 150 }, 225],
])('%s', (_, had, room) => {
  expect(roomFor(had, 300)).toBe(room);
});

test('an authority with a low limit serves one order of each client', () => {
  expect(roomFor({ site: 0, client: 0 }, 1)).toBe(1);
  expect(roomFor({ site: 1, client: 1 }, 1)).toBe(1);
});
