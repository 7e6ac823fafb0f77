import { startOfMonth } from '@edgeloom/contract/common/calendar.ts';
import { expect, test } from 'vitest';
import { billingMonth, monthOf } from './billing-month.ts';

/** By the parser of ISO 8601, which knows nothing of our arithmetic. */
const firstOf = (year: number, month: number) =>
  Date.parse(`${year}-${String(month).padStart(2, '0')}-01T00:00:00+08:00`);

test('billed months begin at midnight in UTC+8', () => {
  for (let year = 2023; year <= 2032; year += 1)
    for (let month = 1; month <= 12; month += 1) {
      const to = month === 12 ? firstOf(year + 1, 1) : firstOf(year, month + 1);
      const expected = { year, month, from: firstOf(year, month), to };
      expect(billingMonth(year, month)).toEqual(expected);
      expect([expected.from, expected.to - 1].map(monthOf)).toEqual([expected, expected]);
      expect(startOfMonth(to, -1)).toBe(expected.from);
    }
});
