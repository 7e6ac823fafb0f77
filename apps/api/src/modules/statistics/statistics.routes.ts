import { nodeStatistics, statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as layer4 from './layer4.service.ts';
import { readNodeBandwidth, readSiteBandwidth } from '../../statistics/list-traffic.ts';
import * as service from './statistics.service.ts';

export const statisticsRoutes = routes(statistics, {
  cards: (ctx, { body }) => service.cards(ctx, body),
  rank: (ctx, { body }) => service.rank(ctx, body),
  timeSeries: (ctx, { body }) => service.timeSeries(ctx, body),
  top: (ctx, { body }) => service.top(ctx, body),
  export: (ctx, { body }) => service.exportRank(ctx, body),
  qps: (ctx, { body }) => service.qps(ctx, body),
  siteBandwidth: (ctx, { body }) => readSiteBandwidth(ctx, body.siteIDs),
  rules: (ctx, { params }) => service.rules(ctx, params.siteId),
  layer4Outcomes: (ctx, { body }) => layer4.outcomes(ctx, body),
  layer4Sums: (ctx, { body }) => layer4.sums(ctx, body),
  layer4Countries: (ctx, { body }) => layer4.countries(ctx, body),
  layer4TopCountries: (ctx, { body }) => layer4.topCountries(ctx, body),
});

export const nodeStatisticsRoutes = routes(nodeStatistics, {
  bandwidth: (ctx) => readNodeBandwidth(ctx),
  kernelDrops: (ctx, { body }) => layer4.kernelDrops(ctx, body),
});
