import type { EChartsCoreOption } from 'echarts/core';
import { tokens } from '../../theme/tokens.ts';
import { ramp, rampBad, type Mode } from './chart-theme.ts';

export interface MapRow {
  /** ISO 3166-1 alpha-2. */
  code: string;
  value: number;
}

interface MapColors {
  /** Colours for attacks instead of traffic. */
  isBad: boolean;
}

const STEPS = 5;

/** Lower bounds of at most five classes: powers of ten, the last of which holds the maximum. */
export function boundsOf(values: readonly number[]): number[] {
  const most = Math.max(0, ...values);
  if (most <= 0) return [];
  const last = Math.floor(Math.log10(Math.max(1, most)));
  const first = Math.max(0, last - STEPS + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => (i === 0 ? 1 : 10 ** (first + i)));
}

interface MapTexts {
  nameOf: (code: string) => string;
  figureOf: (value: number) => string;
}

/** Countries in five colours by their values. The projection comes with the lazily loaded shapes. */
export function mapOption(
  rows: readonly MapRow[],
  { isBad }: MapColors,
  { nameOf, figureOf }: MapTexts,
  projection: object,
  mode: Mode,
): EChartsCoreOption {
  const colors = (isBad ? rampBad : ramp)[mode];
  const t = tokens[mode];
  const bounds = boundsOf(rows.map(({ value }) => value));
  const pieces = bounds.map((min, i) => {
    const next = bounds[i + 1];
    // The highest class has the strongest colour, however few classes there are.
    const color = colors[colors.length - bounds.length + i];
    const label = next === undefined ? `${figureOf(min)}+` : figureOf(min);
    return { gte: min, ...(next !== undefined && { lt: next }), color, label };
  });
  return {
    tooltip: {
      trigger: 'item',
      formatter: ({ name, value }: { name: string; value?: number }) =>
        name === '' ? '' : `${nameOf(name)}  ${value === undefined || Number.isNaN(value) ? '—' : figureOf(value)}`,
    },
    visualMap: {
      type: 'piecewise',
      orient: 'horizontal',
      left: 0,
      bottom: 0,
      itemWidth: 12,
      itemHeight: 6,
      itemGap: 10,
      textGap: 5,
      textStyle: { color: t.text3, fontSize: 11 },
      pieces,
      outOfRange: { color: t.hover },
      selectedMode: false,
      hoverLink: false,
    },
    series: [
      {
        type: 'map',
        id: 'map',
        map: 'world',
        projection,
        top: 4,
        bottom: 26,
        left: 4,
        right: 4,
        selectedMode: false,
        itemStyle: { areaColor: t.hover, borderColor: t.lineStrong, borderWidth: 0.5 },
        emphasis: { label: { show: false }, itemStyle: { areaColor: t.accent, borderColor: t.text, borderWidth: 0.8 } },
        label: { show: false },
        data: rows.map(({ code, value }) => ({ name: code, value })),
      },
    ],
  };
}
