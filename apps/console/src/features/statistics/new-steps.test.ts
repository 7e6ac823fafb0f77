import { expect, test } from 'vitest';
import { startOfNewSteps, withNewSteps } from './new-steps.ts';

const HOUR_MS = 3_600_000;
const at = (minutes: number) => new Date(Date.UTC(2026, 10, 24, 8, minutes)).toISOString();
const steps = (from: number, ...values: (number | null)[]) => ({
  times: values.map((_, i) => at(from + i * 5)),
  stepSeconds: 300,
  values,
});

test('new steps move the time axis on, and replace what the first response had of them', () => {
  expect(withNewSteps(steps(0, 1, 2, 3, 4), steps(10, 9, 8, 7))).toEqual(steps(5, 2, 9, 8, 7));
  expect(withNewSteps(steps(0, 1, 2, 3, 4), steps(10, 3, 5))).toEqual(steps(0, 1, 2, 3, 5));
});

test('more new steps than the chart has leave the newest ones', () => {
  const late = steps(10, 9, null, 8, 7, 6, 5);
  expect(withNewSteps(steps(0, 1, 2, 3, 4), late)).toEqual(steps(20, 8, 7, 6, 5));
});

test('without new steps a chart stays as it is', () => {
  const whole = steps(0, 1, 2);
  expect(withNewSteps(whole, steps(0))).toEqual(whole);
});

test('each read begins an hour before the current step', () => {
  const first = steps(0, ...Array.from({ length: 20 }, (_, i) => i));
  expect(startOfNewSteps(first, HOUR_MS)).toBe(at(35));
  expect(startOfNewSteps(withNewSteps(first, steps(95, 9, 8, 7)), HOUR_MS)).toBe(at(45));
});

test('a read after more than six hours, or with few known steps, reads all', () => {
  const first = steps(0, ...Array.from({ length: 20 }, (_, i) => i));
  expect(startOfNewSteps(first, 6 * HOUR_MS)).toBeUndefined();
  expect(startOfNewSteps(steps(0, 1, 2), 0)).toBeUndefined();
});
