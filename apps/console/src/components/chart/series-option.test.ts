import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { expect, onTestFinished, test } from 'vitest';
import { csvOf, seriesOption, type Drawing } from './series-option.ts';
import { perSecond, shifted, sumsOf, totalOf } from './series-math.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 24, 8, minutes)).toISOString();
const times = [at(0), at(5), at(10)];
const drawing = (more: Partial<Drawing> = {}): Drawing => ({
  times,
  stepSeconds: 300,
  unit: 'bit',
  isStacked: false,
  lines: [{ name: 'bandwidth', label: 'Bandwidth', values: [1000, null, 3000] }],
  previous: null,
  ...more,
});

const lineOf = (name: string, values: (number | null)[]) => ({ name, label: name, values });
/** The series of a chart by their IDs. */
const shownOf = (more: Partial<Drawing>) =>
  Object.fromEntries(seriesOption(drawing(more), 'light').series.map((one) => [one.id, one]));

/** A value between two gaps. */
const point = (value: number) => ({ value, symbol: 'circle', symbolSize: 5 });

test('missing values are gaps, and the period before is a dashed line', () => {
  const previous = { label: 'Before', values: [500, 600, null] };
  expect(seriesOption(drawing({ previous }), 'light')).toMatchObject({
    series: [
      {
        type: 'line',
        name: 'Bandwidth',
        data: [point(1000), null, point(3000)],
        connectNulls: false,
        color: '#2d7b7f',
      },
      { data: [] },
      { name: 'Before', data: [500, 600, null], lineStyle: { type: 'dashed' } },
    ],
  });
  expect(seriesOption(drawing(), 'light')).toMatchObject({ series: [{}, {}, { name: '', data: [] }] });
});

test('status codes are stacked columns, and areas where columns would be too thin', () => {
  const lines = ['2xx', '5xx'].map((name) => ({ name, label: name, values: [1, 2, 3] }));
  const few = seriesOption(drawing({ lines, isStacked: true, unit: 'count' }), 'dark');
  expect(few).toMatchObject({ series: [{ type: 'bar', stack: 'all', color: '#6eb483' }, { type: 'bar' }, {}, {}, {}] });
  const many = Array.from({ length: 288 }, (_, i) => at(i * 5));
  const dense = seriesOption(drawing({ lines, isStacked: true, unit: 'count', times: many }), 'dark');
  expect(dense).toMatchObject({
    series: [{ type: 'line', stack: 'all', step: 'middle' }, { type: 'line' }, {}, {}, {}],
  });
});

test('refused requests are hatched', () => {
  const lines = [{ name: 'refused', label: 'Refused', values: [1, 2, 3] }];
  const option = seriesOption(drawing({ lines, isStacked: true }), 'light');
  expect(option).toMatchObject({ series: [{ color: '#96000b', itemStyle: { decal: { symbol: 'rect' } } }, {}, {}] });
});

test('a sum of steps is missing only where every value is', () => {
  expect(sumsOf([{ values: [1, null, null] }, { values: [2, 3, null] }], 3)).toEqual([3, 3, null]);
  expect([totalOf([1, null, 3]), totalOf([null])]).toEqual([4, null]);
});

test('the period before is moved to the same steps, also when it has fewer', () => {
  const before = { times: [at(-15), at(-10), at(-5)], stepSeconds: 300, values: [1, null, 3] };
  expect(shifted(times, 900_000, before)).toEqual([1, null, 3]);
  const late = { times: [at(-10), at(-5)], stepSeconds: 300, values: [2, 3] };
  expect(shifted(times, 900_000, late)).toEqual([null, 2, 3]);
  expect(shifted(times, 900_000, { ...late, times: [], values: [] })).toEqual([null, null, null]);
});

test('a file has a row per step, with an empty cell for a missing value', () => {
  const [, head, first, second] = csvOf(drawing(), 'Time');
  expect(head).toBe('Time,Bandwidth\r\n');
  expect(first).toMatch(/^2026\/11\/\d\d \d\d:00:00,1000\r\n$/);
  expect(second).toMatch(/,\r\n$/);
});

test('the first value of a new installation is a visible point, and later ones are a line', () => {
  const dataOf = (values: (number | null)[]) =>
    seriesOption(drawing({ lines: [{ name: 'bandwidth', label: 'Bandwidth', values }] }), 'light');
  expect(dataOf([null, null, 8])).toMatchObject({
    series: [{ data: [null, null, point(8)], showSymbol: true }, {}, {}],
  });
  expect(dataOf([null, 7, 8])).toMatchObject({ series: [{ data: [null, 7, 8], symbol: 'none' }, {}, {}] });
});

test('a share has an axis from 0 to 100%', () => {
  expect(seriesOption(drawing({ unit: 'share' }), 'light')).toMatchObject({ yAxis: { min: 0, max: 1 } });
});

test('the unfinished step is a dashed line from the step before', () => {
  const found = shownOf({ isUnfinished: true, lines: [lineOf('a', [1, 2, 3, 1])], isStacked: true });
  expect(found).toMatchObject({
    a: { data: [1, 2, 3, null], stack: 'all' },
    'unfinished a': { data: [null, null, 3, 1], stack: 'unfinished', lineStyle: { type: [3, 2] } },
  });
  // The value before is missing, so there is no line to draw.
  const alone = shownOf({ isUnfinished: true, lines: [lineOf('a', [1, 2, null, 1])] });
  expect(alone['unfinished a']?.data).toEqual([null, null, null, point(1)]);
  // The current step has no value yet.
  const unknown = shownOf({ isUnfinished: true, lines: [lineOf('a', [1, 2, null])] });
  expect(unknown).toMatchObject({ a: { data: [1, 2, null] }, 'unfinished a': { data: [] } });
  // ECharts keeps the data of a series that a later option omits.
  expect(shownOf({ lines: [lineOf('a', [1, 2])] })).toMatchObject({
    a: { data: [1, 2] },
    'unfinished a': { data: [] },
  });
  expect(shownOf({ isUnfinished: true, times: [], lines: [lineOf('a', [])] })).toMatchObject({ a: { data: [] } });
});

test('the column of an unfinished step is hatched', () => {
  const found = shownOf({ isUnfinished: true, isStacked: true, lines: [lineOf('2xx', [1, null, 3])] });
  expect(found['2xx']?.data).toMatchObject([1, null, { value: 3, itemStyle: { decal: { symbol: 'rect' } } }]);
  expect(found['unfinished 2xx']).toMatchObject({ type: 'line', data: [] });
  const none = shownOf({ isUnfinished: true, isStacked: true, lines: [lineOf('2xx', [1, null])] });
  expect(none['2xx']?.data).toEqual([1, null]);
});

test('the columns of status codes are as wide as in a chart without unfinished steps', () => {
  use([BarChart, LineChart, GridComponent, SVGRenderer]);
  /** ECharts draws the first column of 2xx as wide as this. */
  const widthOf = (series: object[]) => {
    const chart = init(null, null, { renderer: 'svg', ssr: true, width: 600, height: 200 });
    onTestFinished(() => chart.dispose());
    chart.setOption({ ...seriesOption(columns, 'light'), animation: false, series });
    return Number(/<path d="M\S+ \S+l(\S+) 0[^"]*" fill="#4ca381"/.exec(chart.renderToSVGString())?.[1]);
  };
  const columns = drawing({
    lines: [lineOf('2xx', [1, 2, 3]), lineOf('5xx', [1, 1, 1])],
    isStacked: true,
    unit: 'count',
  });
  const { series } = seriesOption(columns, 'light');
  const alone = widthOf(series.filter(({ id }) => !id.startsWith('unfinished')));
  expect(alone).toBeGreaterThan(50);
  expect(widthOf(series)).toBe(alone);
});

test('the tooltip has each value once, also that of the unfinished step', () => {
  const { a, 'unfinished a': unfinished } = shownOf({
    isUnfinished: true,
    unit: 'count',
    lines: [lineOf('a', [1, 2])],
  });
  expect(a && 'valueFormatter' in a.tooltip && a.tooltip.valueFormatter(null, 1)).toBe('2');
  expect(unfinished?.tooltip).toEqual({ show: false });
});

test('a file has the unfinished step once', () => {
  expect(csvOf(drawing({ isUnfinished: true }), 'Time')).toHaveLength(5);
});

test('a line of zeros does not cover the line that it is stacked on', () => {
  const lines = [lineOf('ipv4', [3, 4, 5]), lineOf('ipv6', [0, 0, 0])];
  const { ipv4, ipv6, previous } = shownOf({ lines, isStacked: true });
  expect(ipv4?.z).toBeGreaterThan(ipv6?.z ?? Infinity);
  expect(previous?.z).toBeGreaterThan(ipv4?.z ?? Infinity);
});

test('a rate of the current step is divided by the seconds that have passed', () => {
  // 60 of 300 seconds have passed: 750 bytes in them are 100 bit/s.
  const step = { stepSeconds: 300, traffic: [3750, null, 0, 750], bandwidth: [100, null, 0, 100] };
  expect(perSecond([600, null, 0, 120], step)).toEqual([2, null, 0, 2]);
});
