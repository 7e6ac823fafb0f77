import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { findRules } from './waf-rules.service.ts';
import { addException, enableRules, modules, removeException } from './waf.service.ts';

export const wafsRoutes = routes(wafs, {
  defaultRules: (_, { query }) => Promise.resolve(findRules(query)),
  list:   (ctx, { params, query }) => modules.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => modules.create(ctx, params.siteId, body.modules),
  update: (ctx, { params, body }) => modules.update(ctx, params.siteId, body.modules),
  remove: (ctx, { params, body }) => modules.remove(ctx, params.siteId, body.ids),
  enableRules: (ctx, { params, body }) => enableRules(ctx, params.siteId, body),
  addException: (ctx, { params, body }) => addException(ctx, params.siteId, body),
  removeException: (ctx, { params, body }) => removeException(ctx, params.siteId, body.moduleID, body.exception),
});
