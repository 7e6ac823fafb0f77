import { expect, test } from 'vitest';
import { piecesOf } from './selection.ts';

const HOUR = 3600;
const DAY = 86_400;

test.each([
  [0, 600],
  [300, HOUR - 300],
  [300, HOUR],
  [300, 3 * HOUR + 300],
  [HOUR, DAY],
  [300, 4 * DAY + 2 * HOUR + 600],
  [DAY, 3 * DAY],
  [60, 240],
  [60, 3 * DAY + HOUR + 660],
])('the time from %i to %i is covered once, in steps that fit', (from, to) => {
  const pieces = piecesOf(from, to);
  expect(pieces[0]?.since).toBe(from);
  expect(pieces.at(-1)?.until).toBe(to);
  expect(pieces.slice(1).map(({ since }) => since)).toEqual(pieces.slice(0, -1).map(({ until }) => until));
  for (const { step, since, until } of pieces) {
    expect(since % step).toBe(0);
    expect(until % step).toBe(0);
    expect(until).toBeGreaterThan(since);
  }
});

test('long times are mostly whole days', () => {
  expect(piecesOf(300, 30 * DAY + 600).map(({ step }) => step)).toEqual([300, HOUR, DAY, 300]);
  expect(piecesOf(60, 30 * DAY + 60).map(({ step }) => step)).toEqual([60, 300, HOUR, DAY, 60]);
});
