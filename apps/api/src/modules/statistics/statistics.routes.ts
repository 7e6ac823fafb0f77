import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './statistics.service.ts';

export const statisticsRoutes = routes(statistics, {
  cards: (ctx, { body }) => service.cards(ctx, body),
  rank: (ctx, { body }) => service.rank(ctx, body),
  timeSeries: (ctx, { body }) => service.timeSeries(ctx, body),
  top: (ctx, { body }) => service.top(ctx, body),
  export: (ctx, { body }) => service.exportRank(ctx, body),
  qps: (ctx, { body }) => service.qps(ctx, body),
});
