import { expect, test } from 'vitest';
import { figure, newest, timeOption, type Figures } from './time-option.ts';

const figures = (more: Partial<Figures>): Figures => ({
  metric: 'bandwidth',
  range: '24h',
  unit: 'bit',
  from: '2026-11-20T00:00:00.000Z',
  to: '2026-11-20T00:45:00.000Z',
  stepSeconds: 900,
  hasData: true,
  times: ['2026-11-20T00:00:00.000Z', '2026-11-20T00:15:00.000Z', '2026-11-20T00:30:00.000Z'],
  series: [{ name: 'bandwidth', values: [1000, null, 3000] }],
  ...more,
});
const name = (series: string) => `<${series}>`;

test('what was not measured is a gap in the line', () => {
  expect(timeOption(figures({}), name, 'light')).toMatchObject({
    series: [{ type: 'line', name: '<bandwidth>', data: [1000, null, 3000], connectNulls: false }],
  });
});

test('status codes are stacked bars in the dye of their family', () => {
  const series = ['2xx', '5xx'].map((family) => ({ name: family, values: [1, 2, 3] }));
  expect(timeOption(figures({ metric: 'status', unit: 'count', series }), name, 'dark')).toMatchObject({
    series: [
      { type: 'bar', stack: 'all', itemStyle: { color: '#6eb483' } },
      { type: 'bar', stack: 'all', itemStyle: { color: '#c93c20' } },
    ],
  });
});

test('a figure is shown in its unit, and an unknown one as a dash', () => {
  expect([figure('byte', 1_910_000), figure('bit', 4_210_000), figure('share', 0.9306), figure('count', 12)]).toEqual([
    '1.91\u00a0MB',
    '4.21\u00a0Mbps',
    '93.06%',
    '12',
  ]);
  expect(figure('count', null)).toBe('—');
  expect([newest([1, null, 3, null]), newest([null])]).toEqual([3, null]);
});
