import { savedSearches } from '@edgeloom/contract/saved-searches/saved-searches.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './saved-searches.service.ts';

export const savedSearchesRoutes = routes(savedSearches, {
  list:   (ctx) => service.list(ctx),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});
