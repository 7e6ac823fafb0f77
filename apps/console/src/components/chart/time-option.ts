import type { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { EChartsCoreOption } from 'echarts/core';
import { bits, bytes, count, nothing, percent, time } from '../../lib/format.ts';
import { series as dyes, statusFamily, type Mode } from './chart-theme.ts';

export type Figures = Received<typeof charts.get>;

const units: Readonly<Record<ChartUnit, (value: number) => string>> = { byte: bytes, bit: bits, count, share: percent };
/** Missing data is a dash, not zero. */
export const figure = (unit: ChartUnit, value: number | null | undefined) =>
  value === null || value === undefined ? nothing : units[unit](value);

/** `14:30` within a day, `11/20` over a month. */
const stepName = (range: Figures['range'], at: string) =>
  range === '24h' ? time(at).slice(11, 16) : time(at).slice(5, 10);

const isFamily = (name: string): name is keyof (typeof statusFamily)['light'] => name in statusFamily.light;

/** Lines over time, or stacked bars for status codes. Missing data is a gap. */
export function timeOption(
  { times, series, unit, range, metric }: Figures,
  nameOf: (series: string) => string,
  mode: Mode,
): EChartsCoreOption {
  const isBars = metric === 'status';
  return {
    xAxis: { type: 'category', data: times.map((at) => stepName(range, at)), boundaryGap: isBars },
    yAxis: {
      type: 'value',
      splitNumber: 4,
      axisLabel: { formatter: (value: number) => figure(unit, value) },
      ...(unit === 'share' && { min: 0, max: 1, interval: 0.25 }),
    },
    tooltip: { valueFormatter: (value: unknown) => figure(unit, typeof value === 'number' ? value : null) },
    series: series.map(({ name, values }, i) => ({
      name: nameOf(name),
      data: values,
      ...(isBars
        ? { type: 'bar', stack: 'all', itemStyle: { color: isFamily(name) ? statusFamily[mode][name] : dyes[mode][i] } }
        : { type: 'line', connectNulls: false, areaStyle: { opacity: 0.1 } }),
    })),
  };
}

/** The newest measured value. */
export const newest = (values: readonly (number | null)[]) => values.findLast((value) => value !== null) ?? null;
