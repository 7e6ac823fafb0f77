/** ECharts theme: thin lines, no fills by default, tabular digits, one accent first. */
import { fonts } from '../../theme/fonts.ts';
import { tokens } from '../../theme/tokens.ts';

/** The order matters: adjacent colours stay distinct under colour blindness. */
export const series = {
  light: ['#2d7b7f', '#d97d00', '#6b2788', '#2d98f0', '#1f2c2e', '#be3200'],
  dark: ['#40c3cd', '#fdc049', '#965c80', '#6276e7', '#e2f2f2', '#ee682c'],
} as const;
export const statusFamily = {
  light: { '2xx': '#4ca381', '3xx': '#2f5eb9', '4xx': '#d07600', '5xx': '#bd3533', '444': '#16221c', '9xx': '#811968' },
  dark: { '2xx': '#6eb483', '3xx': '#4b65a0', '4xx': '#fccd3d', '5xx': '#c93c20', '444': '#e3f6f9', '9xx': '#c37ee5' },
} as const;

/** Classes of maps, low to high. The first is for no value. */
export const ramp = {
  light: ['#e6efee', '#b9dcdc', '#7fc0c2', '#3f9fa3', '#00757b', '#00494d'],
  dark: ['#1a2425', '#16393b', '#14585b', '#1c7d81', '#3fa9ae', '#9be0e2'],
} as const;
export const rampBad = {
  light: ['#f3ebe8', '#f6cfc7', '#eda397', '#dd6f63', '#c2322d', '#7d1512'],
  dark: ['#231a19', '#4a201d', '#7a2b27', '#ad3f38', '#e0655a', '#ffb3a8'],
} as const;

export type Mode = 'light' | 'dark';

export function chartTheme(mode: Mode) {
  const t = tokens[mode];
  const label = { color: t.text3, fontSize: 11, fontFamily: fonts['zh-TW'] };
  const axis = {
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { ...label, margin: 8, hideOverlap: true },
    splitLine: { lineStyle: { color: t.line, width: 1 } },
    nameTextStyle: label,
  };
  return {
    color: [...series[mode]],
    backgroundColor: 'transparent',
    textStyle: { fontFamily: fonts['zh-TW'], fontSize: 12, color: t.text2 },
    // ECharts 6 ignores `containLabel` in tree-shaken builds; outer bounds replace it.
    grid: { left: 0, right: 4, top: 12, bottom: 0, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    animationDuration: 180,
    animationDurationUpdate: 180,
    line: { symbol: 'none', lineStyle: { width: 1.5, join: 'round' }, emphasis: { disabled: true }, showSymbol: false },
    bar: { itemStyle: { borderRadius: [1, 1, 0, 0] }, barMaxWidth: 18, barCategoryGap: '28%' },
    categoryAxis: { ...axis, splitLine: { show: false } },
    legend: { textStyle: { color: t.text2, fontSize: 11, fontFamily: fonts['zh-TW'] } },
    timeAxis: { ...axis, splitLine: { show: false } },
    valueAxis: axis,
    tooltip: {
      // Rendered on the canvas: an HTML tooltip needs inline styles, which the CSP blocks.
      renderMode: 'richText',
      trigger: 'axis',
      backgroundColor: t.raised,
      borderColor: t.line,
      borderWidth: 1,
      padding: [8, 10],
      textStyle: { color: t.text, fontSize: 12, fontFamily: fonts['zh-TW'] },
      axisPointer: { type: 'line', lineStyle: { color: t.text3, width: 1, type: 'solid' } },
    },
  };
}
