import { startOfMonth } from '@edgeloom/contract/common/calendar.ts';
import { expect, test } from 'vitest';
import { billingMonth, monthOf } from './billing-month.ts';

test('billed months are those of statistics', () => {
  for (let year = 2023; year <= 2032; year += 1)
    for (let month = 1; month <= 12; month += 1) {
      const middle = Date.UTC(year, month - 1, 15);
      const expected = { year, month, from: startOfMonth(middle), to: startOfMonth(middle, 1) };
      expect(billingMonth(year, month)).toEqual(expected);
      expect([expected.from, expected.to - 1].map(monthOf)).toEqual([expected, expected]);
    }
});
