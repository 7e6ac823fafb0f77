import { logDestinations } from '@edgeloom/contract/log-destinations/log-destinations.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './log-destinations.service.ts';

export const logDestinationsRoutes = routes(logDestinations, {
  list:   (ctx, { params }) => service.list(ctx, params.siteId),
  create: (ctx, { params, body }) => service.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => service.update(ctx, params.siteId, body),
  enable: (ctx, { params, body }) => service.enable(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
  test:   (ctx, { params }) => service.test(ctx, params.siteId, params.destinationID),
});
