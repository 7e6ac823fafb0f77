import { expect, test } from 'vitest';
import type { Period } from './period.ts';
import { isUnfinished } from './series-drawings.ts';

const at = (hours: number, minutes = 0) => new Date(Date.UTC(2026, 10, 1, hours, minutes)).toISOString();
const noon = Date.parse(at(12));
const custom: Period = { interval: 'custom', startTime: at(8), endTime: at(9) };

test.each([
  ['a day that goes on', { interval: 'oneDay' }, { times: [at(11, 30), at(11, 45)], to: at(12) }, true],
  ['yesterday', { interval: 'yesterday' }, { times: [at(8, 30), at(8, 45)], to: at(9) }, false],
  ['a custom time of whole steps', custom, { times: [at(8, 30), at(8, 45)], to: at(9) }, false],
  ['a custom time that ends within a step', custom, { times: [at(8, 45), at(9)], to: at(9, 1) }, true],
  ['a custom time that ends later than now', custom, { times: [at(11, 45), at(12)], to: at(12, 15) }, true],
  ['a custom time without steps', custom, { times: [], to: at(9) }, false],
] as const)('the last step of %s', (_, period, series, expected) => {
  expect(isUnfinished(period, { ...series, stepSeconds: 900 }, noon)).toBe(expected);
});

test('a calendar day of 23 hours is a whole step', () => {
  const day = { times: [at(0)], stepSeconds: 86_400, to: at(23) };
  expect(isUnfinished(custom, day, Date.parse(at(72)))).toBe(false);
});
