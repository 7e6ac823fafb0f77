import { statusFamily, type Mode } from '../../components/chart/chart-theme.ts';
import type { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { EChartsCoreOption } from 'echarts/core';
import { count, nothing, time } from '../../lib/format.ts';
import { faultOfPeriod, type Period, type TimeWindow } from './log-state.ts';

export type Figures = Received<typeof statistics.timeSeries>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sums of single minutes are kept for seven days. */
const MINUTES_KEPT_MS = 7 * DAY_MS - HOUR_MS;

/** Bars of a minute up to six hours, else of five. */
export function intervalOf({ startTime, endTime }: TimeWindow, now: number): 1 | 5 {
  const [from, to] = [Date.parse(startTime), Date.parse(endTime)];
  return to - from <= 6 * HOUR_MS && now - from <= MINUTES_KEPT_MS ? 1 : 5;
}

const isFamily = (name: string): name is keyof (typeof statusFamily)['light'] => name in statusFamily.light;

/** Stacked bars over the full width, so that a horizontal position is a time. */
export function histogramOption({ times, series }: Figures, mode: Mode): EChartsCoreOption {
  return {
    animation: false,
    grid: { left: 0, right: 0, top: 4, bottom: 20, outerBoundsMode: 'none' },
    xAxis: {
      type: 'category',
      data: times.map((at) => time(at).slice(11, 16)),
      axisLabel: { alignMinLabel: 'left', alignMaxLabel: 'right' },
    },
    yAxis: { type: 'value', show: false, min: 0 },
    tooltip: { valueFormatter: (value: unknown) => (typeof value === 'number' ? count(value) : nothing) },
    series: series.map(({ name, values }) => ({
      type: 'bar',
      stack: 'all',
      name,
      data: values,
      barMaxWidth: 64,
      barCategoryGap: '12%',
      itemStyle: { borderRadius: 0, ...(isFamily(name) && { color: statusFamily[mode][name] }) },
    })),
  };
}

/** Requests of each status family. Null: nothing was measured. */
export const totals = ({ series }: Figures) =>
  series.map(({ name, values }) => {
    const measured = values.filter((value) => value !== null);
    return { name, total: measured.length === 0 ? null : measured.reduce((sum, value) => sum + value, 0) };
  });

/** The bar at a share of the width. */
export const barAt = (share: number, bars: number) => Math.min(Math.max(Math.floor(share * bars), 0), bars - 1);

/** The time of the bars from one to another, within a period that the API accepts. */
export function periodOfBars({ times, stepSeconds }: Figures, one: number, other: number): Period | null {
  const [first, last] = [times[Math.min(one, other)], times[Math.max(one, other)]];
  if (first === undefined || last === undefined) return null;
  const period = {
    from: new Date(first).toISOString(),
    to: new Date(Date.parse(last) + stepSeconds * 1000).toISOString(),
  };
  return faultOfPeriod(period) === null ? period : null;
}
