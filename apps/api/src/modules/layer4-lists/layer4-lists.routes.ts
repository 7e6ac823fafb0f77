import { layer4Blacklists, layer4Whitelists } from '@edgeloom/contract/layer4-lists/layer4-lists.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { layer4Lists } from './layer4-lists.service.ts';

const [black, white] = [layer4Lists(true), layer4Lists(false)];

export const layer4BlacklistsRoutes = routes(layer4Blacklists, {
  list:   (ctx, { params, query }) => black.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => black.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => black.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => black.remove(ctx, params.siteId, body.ids),
});

export const layer4WhitelistsRoutes = routes(layer4Whitelists, {
  list:   (ctx, { params, query }) => white.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => white.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => white.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => white.remove(ctx, params.siteId, body.ids),
});
