import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './rollouts.service.ts';
import * as upgrading from './upgrades.service.ts';

export const rolloutsRoutes = routes(rollouts, {
  list:   (ctx, { query }) => service.list(ctx, query),
  get:    (ctx, { params }) => service.get(ctx, params.id),
  lines:  (ctx, { params, query }) => service.lines(ctx, params.id, query),
  events: (ctx, { params }) => service.events(ctx, params.id),
  act:    (ctx, { params, body }) => service.act(ctx, params.id, params.action, body.reason),
});

export const upgradesRoutes = routes(upgrades, {
  latest: (ctx) => upgrading.latest(ctx),
  begin:  (ctx, { body }) => upgrading.begin(ctx, body),
  logs:   (ctx, { params, query }) => upgrading.logs(ctx, params.nodeID, query),
});
