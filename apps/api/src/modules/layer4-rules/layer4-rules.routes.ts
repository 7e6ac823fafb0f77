import { layer4LimitConns, layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { limitConns, positions } from './layer4-rules.service.ts';

export const layer4PositionsRoutes = routes(layer4Positions, {
  list:   (ctx, { params, query }) => positions.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => positions.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => positions.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => positions.remove(ctx, params.siteId, body.ids),
});

export const layer4LimitConnsRoutes = routes(layer4LimitConns, {
  list:   (ctx, { params, query }) => limitConns.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => limitConns.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => limitConns.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => limitConns.remove(ctx, params.siteId, body.ids),
});
