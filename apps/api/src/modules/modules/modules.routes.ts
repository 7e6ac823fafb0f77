import { CorsSettings } from '@edgeloom/contract/modules/cors.ts';
import { cors, customHeaders, domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { customHeaders as headers } from './custom-headers.service.ts';
import * as assignments from './domain-modules.service.ts';
import { modulesOf } from './modules.service.ts';

export const domainModulesRoutes = routes(domainModules, {
  list:   (ctx, { params, query }) => assignments.list(ctx, params, query),
  assign: (ctx, { params, body }) => assignments.assign(ctx, params, body),
});

export const customHeadersRoutes = routes(customHeaders, {
  list:   (ctx, { params, query }) => headers.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => headers.create(ctx, params.siteId, body.modules),
  update: (ctx, { params, body }) => headers.update(ctx, params.siteId, body.modules),
  remove: (ctx, { params, body }) => headers.remove(ctx, params.siteId, body.ids),
});

const corsModules = modulesOf('cors', CorsSettings);
export const corsRoutes = routes(cors, {
  list:   (ctx, { params, query }) => corsModules.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => corsModules.create(ctx, params.siteId, body.cors),
  update: (ctx, { params, body }) => corsModules.update(ctx, params.siteId, body.cors),
  remove: (ctx, { params, body }) => corsModules.remove(ctx, params.siteId, body.ids),
});
