import { defaultErrorPages } from '@edgeloom/contract/default-error-pages/default-error-pages.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './default-error-pages.service.ts';

export const defaultErrorPagesRoutes = routes(defaultErrorPages, {
  list:   (ctx, { query }) => service.list(ctx, query),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});
