import {
  ownTrafficPackages,
  ownTrafficUsage,
  trafficPackages,
  trafficUsage,
} from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as packages from './packages.service.ts';
import * as usage from './usage.service.ts';

export const trafficPackagesRoutes = routes(trafficPackages, {
  list:   (ctx, { query }) => packages.list(ctx, query),
  create: (ctx, { body }) => packages.create(ctx, body),
  update: (ctx, { body }) => packages.update(ctx, body),
  remove: (ctx, { body }) => packages.remove(ctx, body.ids),
});

export const ownTrafficPackagesRoutes = routes(ownTrafficPackages, {
  list: (ctx, { query }) => packages.list(ctx, query),
});

export const trafficUsageRoutes = routes(
  trafficUsage,
  {
    months: (ctx, { query }) => usage.months(ctx, query),
    report: (ctx, { query }) => usage.report(ctx, query),
  },
  { report: usage.writeCsv },
);

export const ownTrafficUsageRoutes = routes(ownTrafficUsage, {
  months: (ctx, { query }) => usage.months(ctx, query),
});
