// The parts of ECharts that we use, in a chunk of their own.
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import { init, registerTheme, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { chartTheme, type Mode } from './chart-theme.ts';

use([LineChart, BarChart, GridComponent, LegendComponent, TooltipComponent, CanvasRenderer]);
// A canvas cannot read CSS variables, so there is one theme per colour scheme.
for (const mode of ['light', 'dark'] as const) registerTheme(`edgeloom-${mode}`, chartTheme(mode));

export const openChart = (element: HTMLElement, mode: Mode) => init(element, `edgeloom-${mode}`);
