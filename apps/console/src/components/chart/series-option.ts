import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
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
  /** The last step has only a part of its time: it is the current one, or a custom period ends within it. */
  isUnfinished?: boolean;
}

const DAY_SECONDS = 86_400;
/** More columns than this would be thinner than a pixel or two. */
const MAX_BARS = 120;

/** The widest character of a time label. */
const LABEL_PX = 6.5;

/** The default of ECharts for series. */
const LINE_Z = 2;
/** A step of a day's chart is ten pixels wide. */
const SHORT_DASHES = [3, 2];
const hatch = { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 } as const;

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
export function timeLabel(times: readonly string[], stepSeconds: number): (text: string) => string {
  if (times.length * stepSeconds <= 1.5 * DAY_SECONDS) return (text) => text.slice(11, 16);
  return stepSeconds >= DAY_SECONDS ? (text) => text.slice(5, 10) : (text) => text.slice(5, 16);
}

/** Lines over time, stacked where they add up. Status codes are columns while these are wide enough. */
export function seriesOption(drawing: Drawing, mode: Mode) {
  const { times, stepSeconds, unit, lines, isStacked, previous } = drawing;
  const isBars = lines.some(({ name }) => isFamily(name)) && times.length <= MAX_BARS;
  const tooltipOf = (values: Values) => ({ valueFormatter: (_: unknown, i: number) => figure(unit, values[i]) });
  const nameAndColor = ({ name, label }: Line, i: number) => ({
    name: label,
    color: colorOf(name, i, mode),
    // A line of zeros is drawn below the line that it is stacked on.
    z: LINE_Z + lines.length - i,
  });
  const labelOf = timeLabel(times, stepSeconds);
  const texts = times.map((at) => time(at).slice(0, stepSeconds >= DAY_SECONDS ? 10 : 16));
  return {
    // The outer bounds of the theme miss the last time label where it moves as the grid shrinks: half of it fits here.
    grid: { right: (labelOf(texts.at(-1) ?? '').length * LABEL_PX) / 2 },
    xAxis: {
      type: 'category',
      data: texts,
      boundaryGap: isBars,
      axisLabel: { formatter: labelOf },
    },
    yAxis: {
      type: 'value',
      min: 0,
      splitNumber: 4,
      axisLabel: { formatter: (value: number) => figure(unit, value) },
      ...(unit === 'count' && { minInterval: 1 }),
      ...(unit === 'share' && { max: 1, interval: 0.25 }),
    },
    series: [
      ...lines.map((line, i) => ({
        ...nameAndColor(line, i),
        ...(isBars ? { type: 'bar' } : lineStyle(line.name, isStacked)),
        id: line.name,
        data: isBars ? barsOf(line.values, drawing, mode) : withoutUnfinished(line.values, drawing).map(pointOf),
        ...(isStacked && { stack: 'all' }),
        tooltip: tooltipOf(line.values),
      })),
      // The next ones are always present: ECharts keeps a series that a later option omits. They are never columns:
      // ECharts leaves room beside the others for the columns of a stack, also of an empty one.
      ...lines.map((line, i) => ({
        ...nameAndColor(line, i),
        ...lineStyle(line.name, isStacked),
        ...unfinishedStyle(line.name, isStacked),
        id: `unfinished ${line.name}`,
        data: isBars ? [] : unfinishedOf(line.values, drawing).map(pointOf),
        ...(isStacked && { stack: 'unfinished' }),
        tooltip: { show: false },
      })),
      {
        id: 'previous',
        name: previous?.label ?? '',
        data: previous?.values ?? [],
        type: 'line',
        connectNulls: false,
        color: tokens[mode].text2,
        lineStyle: { width: 1, type: 'dashed' },
        z: LINE_Z + lines.length + 1,
        tooltip: tooltipOf(previous?.values ?? []),
      },
    ],
  };
}

/** The column of the unfinished step is hatched. */
function barsOf(values: Values, { isUnfinished = false }: Drawing, mode: Mode) {
  if (!isUnfinished) return values;
  const itemStyle = { decal: { ...hatch, color: tokens[mode].surface } };
  return values.map((value, i) => (value !== null && i === values.length - 1 ? { value, itemStyle } : value));
}

const withoutUnfinished = (values: Values, { isUnfinished = false }: Drawing): Values =>
  isUnfinished ? values.map((value, i) => (i === values.length - 1 ? null : value)) : values;

/** Only the unfinished step, and the one before, from which its line starts. Empty if the step has no value yet. */
function unfinishedOf(values: Values, { isUnfinished = false }: Drawing): Values {
  if (!isUnfinished || values.at(-1) == null) return [];
  return values.map((value, i) => (i < values.length - 2 ? null : value));
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
      itemStyle: { decal: hatch },
    };
  if (isFamily(name) && isStacked)
    return { ...line, step: 'middle', lineStyle: { width: 0 }, areaStyle: { opacity: 0.9 } };
  return line;
}

/** A dashed line. Areas without a line are hatched. */
function unfinishedStyle(name: string, isStacked: boolean) {
  if (isFamily(name) && isStacked) return { itemStyle: { decal: hatch }, areaStyle: { opacity: 0.45 } };
  return { lineStyle: { type: SHORT_DASHES }, areaStyle: { opacity: 0.06 } };
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
