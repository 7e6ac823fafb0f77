import { expect, test } from 'vitest';
import { barAt, histogramOption, intervalOf, periodOfBars, totals, type Figures } from './histogram-option.ts';

const figures: Figures = {
  from: '2026-11-20T05:30:00.000Z',
  to: '2026-11-20T05:33:00.000Z',
  stepSeconds: 60,
  times: ['2026-11-20T05:30:00.000Z', '2026-11-20T05:31:00.000Z', '2026-11-20T05:32:00.000Z'],
  series: [
    { type: 12, name: '2xx', values: [3, null, 4] },
    { type: 12, name: '9xx', values: [null, null, null] },
  ],
};

test('bars have the colour of their family, and what was not measured is a gap', () => {
  expect(histogramOption(figures, 'light')).toMatchObject({
    series: [
      { name: '2xx', data: [3, null, 4], stack: 'all', itemStyle: { color: '#4ca381' } },
      { name: '9xx', itemStyle: { color: '#811968' } },
    ],
  });
  expect(totals(figures)).toEqual([
    { name: '2xx', total: 7 },
    { name: '9xx', total: null },
  ]);
});

test('dragging over bars selects their time, in either direction', () => {
  expect([barAt(-1, 3), barAt(0.4, 3), barAt(2, 3)]).toEqual([0, 1, 2]);
  const period = { from: '2026-11-20T05:31:00.000Z', to: '2026-11-20T05:33:00.000Z' };
  expect(periodOfBars(figures, 1, 2)).toEqual(period);
  expect(periodOfBars(figures, 2, 1)).toEqual(period);
});

test('a bar is a minute up to six hours of the last days, else five minutes', () => {
  const hours = (from: number, to: number) => ({
    startTime: new Date(from * 3_600_000).toISOString(),
    endTime: new Date(to * 3_600_000).toISOString(),
  });
  expect(intervalOf(hours(0, 6), 6 * 3_600_000)).toBe(1);
  expect(intervalOf(hours(0, 7), 7 * 3_600_000)).toBe(5);
  expect(intervalOf(hours(0, 1), 200 * 3_600_000)).toBe(5);
});
