// The parts that a chart needs to draw the world, in a separate chunk.
import { MapChart } from 'echarts/charts';
import { GeoComponent, VisualMapPiecewiseComponent } from 'echarts/components';
import { registerMap, use } from 'echarts/core';
import { projection, shapes } from './world-shapes.ts';

use([MapChart, GeoComponent, VisualMapPiecewiseComponent]);
registerMap('world', JSON.stringify(shapes));

export { projection };
