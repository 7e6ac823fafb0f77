import { expect, test } from 'vitest';
import { withNewSteps } from './new-steps.ts';

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

test('a tab that was hidden for longer than the chart shows the newest steps', () => {
  const late = steps(10, 9, null, 8, 7, 6, 5);
  expect(withNewSteps(steps(0, 1, 2, 3, 4), late)).toEqual(steps(20, 8, 7, 6, 5));
});

test('without new steps a chart stays as it is', () => {
  const whole = steps(0, 1, 2);
  expect([withNewSteps(whole, undefined), withNewSteps(whole, steps(0))]).toEqual([whole, whole]);
});
