import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './charts.service.ts';

export const chartsRoutes = routes(charts, {
  get: (ctx, request) => service.get(ctx, request),
});
