import { expect, test } from 'vitest';
import type { Drawing } from './series-option.ts';
import { trimLeadingGaps } from './trim-leading-gaps.ts';

const STEP_MS = 900_000;
const noon = Date.UTC(2026, 10, 24, 12);
const nulls = (count: number): (number | null)[] => Array.from({ length: count }, () => null);
const drawing = (...lines: (number | null)[][]): Drawing => ({
  times: (lines[0] ?? []).map((_, i) => new Date(noon + i * STEP_MS).toISOString()),
  stepSeconds: 900,
  unit: 'count',
  isStacked: false,
  lines: lines.map((values, i) => ({ name: String(i), label: String(i), values })),
  previous: null,
});

test('a chart starts at its first data, with the time of it, if most of the time before has none', () => {
  const values = [...nulls(60), 1, ...nulls(5), ...Array.from({ length: 30 }, () => 2)];
  const { drawing: shown, since } = trimLeadingGaps({ ...drawing(values), isUnfinished: true });
  // Later gaps stay.
  expect(shown.lines[0]?.values).toEqual(values.slice(60));
  expect(shown.times[0]).toBe(new Date(noon + 60 * STEP_MS).toISOString());
  expect([shown.times.length, shown.isUnfinished, since]).toEqual([36, true, expect.stringMatching(/^\d\d:\d\d$/)]);
});

test('the first value of a day has some empty steps before it', () => {
  const { drawing: shown, since } = trimLeadingGaps(drawing([...nulls(95), 1]));
  expect(shown.lines[0]?.values).toEqual([...nulls(11), 1]);
  expect(since).toMatch(/^\d\d:\d\d$/);
});

test('a chart that has data in its first half, in any line or the period before, is whole', () => {
  const late = [...nulls(60), ...Array.from({ length: 36 }, () => 1)];
  const early = [...nulls(40), 1, ...nulls(55)];
  const previous = { label: 'Before', values: early };
  for (const whole of [
    drawing(early),
    drawing(late, early),
    { ...drawing(late), previous },
    drawing(nulls(96)),
    drawing([]),
  ])
    expect(trimLeadingGaps(whole)).toEqual({ drawing: whole, since: null });
});

test('the first data of a month is said with its date', () => {
  const values = [...nulls(600), ...Array.from({ length: 120 }, () => 1)];
  expect(trimLeadingGaps({ ...drawing(values), stepSeconds: 3600 }).since).toMatch(/^\d\d\/\d\d \d\d:\d\d$/);
});
