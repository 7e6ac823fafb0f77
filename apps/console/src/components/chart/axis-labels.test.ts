import { LineChart, BarChart } from 'echarts/charts';
import { GridComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { expect, test } from 'vitest';
import { chartTheme } from './chart-theme.ts';
import { seriesOption } from './series-option.ts';

echarts.use([LineChart, BarChart, GridComponent, SVGRenderer]);

const timesOf = (steps: number, stepSeconds: number) =>
  Array.from({ length: steps }, (_, i) => new Date(Date.UTC(2026, 10, 22, 20) + i * stepSeconds * 1000).toISOString());

/** Widths of the canvas at which a label of the time axis does not fit into it. */
function cutAt(name: string, digits: number, steps: number, stepSeconds: number): number[] {
  const times = timesOf(steps, stepSeconds);
  const lines = [{ name, label: name, values: times.map(() => 10 ** digits) }];
  const option = seriesOption({ times, stepSeconds, unit: 'count', lines, isStacked: true, previous: null }, 'light');
  const widths = Array.from({ length: 40 }, (_, i) => 240 + 11 * i);
  return widths.filter((width) => {
    const chart = echarts.init(null, chartTheme('light'), { renderer: 'svg', ssr: true, width, height: 150 });
    chart.setOption({ ...option, animation: false });
    const texts = chart
      .getZr()
      .storage.getDisplayList(true)
      .filter(({ type }) => type === 'tspan');
    const isCut = texts.some((text) => {
      const box = text.getBoundingRect().clone();
      if (text.transform) box.applyTransform(text.transform);
      return box.x + box.width > width;
    });
    chart.dispose();
    return isCut;
  });
}

test.each([
  ['requests', 94, 900],
  ['2xx', 94, 900],
  ['requests', 165, 3600],
  ['2xx', 30, 86_400],
])('labels of the time axis of %s fit at each width: %i steps of %i seconds', (name, steps, stepSeconds) => {
  expect([2, 8].flatMap((digits) => cutAt(name, digits, steps, stepSeconds))).toEqual([]);
});
