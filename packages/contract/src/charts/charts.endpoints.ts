import { get, onEvery } from '../endpoint.ts';
import { Chart, ChartMetric, ChartQuery } from './charts.ts';

export const charts = onEvery('charts', {
  get: get('charts/:metric', { can: 'statistics:read', params: { metric: ChartMetric }, query: ChartQuery, reply: Chart }),
});
