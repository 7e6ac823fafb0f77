import { expect, test } from 'vitest';
import { currentMonth, monthName, monthsUntil } from './months.ts';

test('a month begins at midnight of UTC+8', () => {
  const end = Date.parse('2026-12-31T16:00:00Z');
  expect(monthName(currentMonth(end - 1))).toBe('2026/12');
  expect(monthName(currentMonth(end))).toBe('2027/01');
});

test('months are listed back over the new year', () => {
  expect(monthsUntil({ year: 2026, month: 2 }, 4).map(monthName)).toEqual(['2026/02', '2026/01', '2025/12', '2025/11']);
});
