import { layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { positions } from './layer4-rules.service.ts';

export const layer4PositionsRoutes = routes(layer4Positions, {
  list:   (ctx, { params, query }) => positions.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => positions.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => positions.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => positions.remove(ctx, params.siteId, body.ids),
});
