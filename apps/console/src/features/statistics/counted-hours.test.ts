import { expect, test } from 'vitest';
import { countedHours } from './counted-hours.ts';

/** In the time zone of this machine, as the reader sees it. */
const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).toISOString();
const now = new Date(at(29, 19, 13));
const shown = (from: string, to: string) => countedHours({ from, to }, now).replaceAll('\u00a0', ' ');

test('the hours of a count have only the days that the reader must know', () => {
  expect(shown(at(29, 17), at(29, 18))).toBe('17:00 – 18:00');
  expect(shown(at(28, 17), at(28, 18))).toBe('11/28 17:00 – 18:00');
  expect(shown(at(28, 23), at(29, 1))).toBe('11/28 23:00 – 11/29 01:00');
});

test('the hours of a count end now, not with the current step', () => {
  expect(shown(at(29, 18), at(29, 19, 15))).toBe('18:00 – 19:13');
});
