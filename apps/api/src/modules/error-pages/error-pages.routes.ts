import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { onSite } from '../../core/rule-list.ts';
import { routes } from '../../http/bind.ts';
import * as service from './error-pages.service.ts';

export const errorPagesRoutes = routes(errorPages, {
  list:   (ctx, { params }) => service.errorPages.list(ctx, onSite(params)),
  create: (ctx, { params, body }) => service.errorPages.create(ctx, onSite(params), body.errorPages),
  update: (ctx, { params, body }) => service.errorPages.update(ctx, onSite(params), body.errorPages),
  remove: (ctx, { params, body }) => service.errorPages.remove(ctx, onSite(params), body.ids),
});
