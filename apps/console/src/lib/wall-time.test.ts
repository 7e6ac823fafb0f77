import { afterEach, expect, test } from 'vitest';
import { prefer } from '../stores/preferences.ts';
import { fromWall, toWall } from './wall-time.ts';

afterEach(() => prefer({ timeZone: null }));

test.each([
  ['Asia/Taipei', '2026-11-20T17:30', '2026-11-20T09:30:00.000Z'],
  ['America/New_York', '2026-03-08T03:30', '2026-03-08T07:30:00.000Z'],
  ['America/New_York', '2026-03-08T01:30', '2026-03-08T06:30:00.000Z'],
  ['Asia/Kathmandu', '2026-01-01T00:00', '2025-12-31T18:15:00.000Z'],
  ['UTC', '2026-01-01T00:00', '2026-01-01T00:00:00.000Z'],
])('in %s the clock shows %s at %s', (timeZone, wall, iso) => {
  prefer({ timeZone });
  expect(fromWall(wall)).toBe(iso);
  expect(toWall(iso)).toBe(wall);
});

test('half a date is no instant', () => {
  expect(fromWall('')).toBeNull();
  expect(fromWall('2026-11-20T')).toBeNull();
});
