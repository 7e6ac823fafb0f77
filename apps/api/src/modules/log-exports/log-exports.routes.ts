import { logExports } from '@edgeloom/contract/log-exports/log-exports.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './log-exports.service.ts';

export const logExportsRoutes = routes(logExports, {
  create: (ctx, { body }) => service.create(ctx, body),
  list:   (ctx, { query }) => service.list(ctx, query),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
  get:    (ctx, { params }) => service.get(ctx, params.id),
  file:   (ctx, { params }) => service.file(ctx, params.id),
  retry:  (ctx, { body }) => service.retry(ctx, body.ids),
});
