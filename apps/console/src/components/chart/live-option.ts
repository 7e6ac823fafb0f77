import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import type { EChartsCoreOption } from 'echarts/core';
import { clock, time } from '../../lib/format.ts';
import { figure } from './figure.ts';

interface LiveSeries {
  name: string;
  values: readonly number[];
}
interface LiveOptions {
  /** Oldest first, one per value. */
  times: readonly string[];
  series: readonly LiveSeries[];
  unit: ChartUnit;
  /** Length of the time axis. */
  spanMs: number;
  /** Maximum of the value axis, such as the machine's capacity. Defaults to the highest value. */
  most?: number;
}

const STEPS = 4;
/** A longer pause between values is drawn as a gap. */
const GAP_MS = 10_000;

/** A chart over a moving time window. */
export function liveOption({ times, series, unit, spanMs, most }: LiveOptions): EChartsCoreOption {
  const moments = times.map((at) => Date.parse(at));
  const newest = moments.at(-1) ?? 0;
  return {
    animation: false,
    grid: { top: series.length > 1 ? 26 : 12 },
    xAxis: {
      type: 'time',
      min: newest - spanMs,
      max: newest,
      splitNumber: STEPS,
      axisLabel: { formatter: (at: number) => clock(new Date(at)) },
      // Head of the tooltip.
      axisPointer: { label: { show: false, formatter: ({ value }: { value: number }) => time(new Date(value)) } },
    },
    yAxis: {
      type: 'value',
      min: 0,
      splitNumber: STEPS,
      axisLabel: { formatter: (value: number) => axisFigure(unit, value) },
      ...(unit === 'count' && { minInterval: 1 }),
      ...(most !== undefined && { max: most, interval: most / STEPS }),
    },
    tooltip: {
      valueFormatter: (value: unknown) => figure(unit, typeof value === 'number' ? value : null),
    },
    ...(series.length > 1 && { legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 3, icon: 'rect', itemGap: 16 } }),
    series: series.map(({ name, values }) => ({
      type: 'line',
      name,
      data: withGaps(moments, values),
      connectNulls: false,
      areaStyle: { opacity: 0.1 },
    })),
  };
}

export const axisFigure = (unit: ChartUnit, value: number) =>
  unit === 'share' ? `${Math.round(value * 100)}%` : figure(unit, value);

function withGaps(moments: readonly number[], values: readonly number[]): [number, number | null][] {
  return moments.flatMap((at, i): [number, number | null][] => {
    const before = moments[i - 1];
    const point: [number, number | null] = [at, values[i] ?? null];
    return before !== undefined && at - before > GAP_MS ? [[at - 1, null], point] : [point];
  });
}
