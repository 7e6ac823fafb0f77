import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { EChartsCoreOption } from 'echarts/core';
import { series as dyes, statusFamily, type Mode } from './chart-theme.ts';
import { figure } from './figure.ts';
import { byteOrderMark, csvLine } from '../../lib/csv.ts';
import { time } from '../../lib/format.ts';
import { tokens } from '../../theme/tokens.ts';

type Values = readonly (number | null)[];
interface Line {
  /** The API's name: `bandwidth`, `5xx`, `ipv4`. */
  name: string;
  label: string;
  values: Values;
}
export interface Drawing {
  times: readonly string[];
  stepSeconds: number;
  unit: ChartUnit;
  lines: readonly Line[];
  /** Lines add up to a total. */
  isStacked: boolean;
  /** The sum of the lines in the period before. Null: not compared. */
  previous: { label: string; values: Values } | null;
}

const DAY_SECONDS = 86_400;
/** More columns than this would be thinner than a pixel or two. */
const MAX_BARS = 120;

const isFamily = (name: string): name is keyof (typeof statusFamily)['light'] => name in statusFamily.light;
/** Pass and drop of the security page. */
const outcomes = {
  light: { passed: '#38a674', refused: '#96000b' },
  dark: { passed: '#6ac497', refused: '#c83314' },
} as const;
const isOutcome = (name: string): name is keyof (typeof outcomes)['light'] => name in outcomes.light;

export function colorOf(name: string, index: number, mode: Mode): string {
  if (isFamily(name)) return statusFamily[mode][name];
  if (isOutcome(name)) return outcomes[mode][name];
  return dyes[mode][index % dyes[mode].length] ?? dyes[mode][0];
}

/** Labels of the time axis: the time within a day and a half, otherwise with the date. */
function axisLabel(times: readonly string[], stepSeconds: number): (text: string) => string {
  if (times.length * stepSeconds <= 1.5 * DAY_SECONDS) return (text) => text.slice(11, 16);
  return stepSeconds >= DAY_SECONDS ? (text) => text.slice(5, 10) : (text) => text.slice(5, 16);
}

/** Lines over time, stacked where they add up. Status codes are columns while these are wide enough. */
export function seriesOption(drawing: Drawing, mode: Mode): EChartsCoreOption {
  const { times, stepSeconds, unit, lines, isStacked, previous } = drawing;
  const isBars = lines.some(({ name }) => isFamily(name)) && times.length <= MAX_BARS;
  return {
    xAxis: {
      type: 'category',
      data: times.map((at) => time(at).slice(0, stepSeconds >= DAY_SECONDS ? 10 : 16)),
      boundaryGap: isBars,
      axisLabel: { formatter: axisLabel(times, stepSeconds) },
    },
    yAxis: {
      type: 'value',
      min: 0,
      splitNumber: 4,
      axisLabel: { formatter: (value: number) => figure(unit, value) },
      ...(unit === 'count' && { minInterval: 1 }),
      ...(unit === 'share' && { max: 1, interval: 0.25 }),
    },
    tooltip: { valueFormatter: (value: unknown) => figure(unit, typeof value === 'number' ? value : null) },
    series: [
      ...lines.map(({ name, label, values }, i) => ({
        id: name,
        name: label,
        data: isBars ? values : values.map(pointOf),
        color: colorOf(name, i, mode),
        ...(isStacked && { stack: 'all' }),
        ...(isBars ? { type: 'bar' } : lineStyle(name, isStacked)),
      })),
      // Always present: ECharts keeps a series that a later option omits.
      {
        id: 'previous',
        name: previous?.label ?? '',
        data: previous?.values ?? [],
        type: 'line',
        connectNulls: false,
        color: tokens[mode].text2,
        lineStyle: { width: 1, type: 'dashed' },
        z: 3,
      },
    ],
  };
}

/** A line has no point where both neighbours are missing, so the point gets a mark. */
function pointOf(value: number | null, i: number, values: Values) {
  const isAlone = value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null;
  return isAlone ? { value, symbol: 'circle', symbolSize: 5 } : value;
}

function lineStyle(name: string, isStacked: boolean) {
  const line = {
    type: 'line',
    connectNulls: false,
    showSymbol: true,
    showAllSymbol: true,
    symbol: 'none',
    areaStyle: { opacity: 0.12 },
  };
  if (name === 'refused')
    return {
      ...line,
      areaStyle: { opacity: 0.45 },
      // The hatch of an area is read from here.
      itemStyle: { decal: { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 } },
    };
  if (isFamily(name) && isStacked)
    return { ...line, step: 'middle', lineStyle: { width: 0 }, areaStyle: { opacity: 0.9 } };
  return line;
}

/** The chart as a file. Values are plain numbers. */
export function csvOf({ times, lines, previous }: Drawing, timeTitle: string): string[] {
  const columns = [...lines, ...(previous ? [previous] : [])];
  const head = csvLine([timeTitle, ...columns.map(({ label }) => label)]);
  const rows = times.map((at, i) =>
    csvLine([time(at), ...columns.map(({ values }) => (values[i] == null ? '' : String(values[i])))]),
  );
  return [byteOrderMark, head, ...rows];
}
