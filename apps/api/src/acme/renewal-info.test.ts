import { expect, test } from 'vitest';
import { renewalId } from './renewal-info.ts';
import { renewAt, retryAt } from './renewal-schedule.ts';

test('a certificate is called what RFC 9773 calls its example', () => {
  expect(renewalId('69885B6B87464041E1B37B847BA0AE2CDE01C8D4', '87654321')).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});

test('a renewal is due at a third of the life left, and up to a thirtieth before', () => {
  const life = { notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date('2026-04-01T00:00:00Z') };
  expect(renewAt(life, 0)).toEqual(new Date('2026-03-02T00:00:00Z'));
  expect(renewAt(life, 1)).toEqual(new Date('2026-02-27T00:00:00Z'));
});

test.each([
  [1, 0, 1],
  [2, 0, 6],
  [3, 0, 24],
  [9, 0, 24],
  [1, 7200, 2],
])('after %i failures, and %i seconds that the authority asks for, %i hours are waited', (failures, seconds, hours) => {
  const now = new Date('2026-01-01T00:00:00Z');
  expect(retryAt(now, failures, seconds, 0).getTime() - now.getTime()).toBe(hours * 3_600_000);
});
