import { robots } from '@edgeloom/contract/robots/robots.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { readRobots, writeRobots } from './robots.service.ts';

export const robotsRoutes = routes(robots, {
  get:    (ctx, { params }) => readRobots(ctx, params.siteId),
  update: (ctx, { params, body }) => writeRobots(ctx, params.siteId, body),
});
