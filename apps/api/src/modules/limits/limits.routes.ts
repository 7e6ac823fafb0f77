import { frequencies, limitConns, limitReqs } from '@edgeloom/contract/limits/limits.endpoints.ts';
import { onSite } from '../../core/rule-list.ts';
import { routes } from '../../http/bind.ts';
import * as service from './limits.service.ts';

export const frequenciesRoutes = routes(frequencies, {
  list:   (ctx, { params }) => service.frequencies.list(ctx, onSite(params)),
  create: (ctx, { params, body }) => service.frequencies.create(ctx, onSite(params), body.items),
  update: (ctx, { params, body }) => service.frequencies.update(ctx, onSite(params), body.items),
  remove: (ctx, { params, body }) => service.frequencies.remove(ctx, onSite(params), body.ids),
});

export const limitReqsRoutes = routes(limitReqs, {
  list:   (ctx, { params }) => service.limitReqs.list(ctx, onSite(params)),
  create: (ctx, { params, body }) => service.limitReqs.create(ctx, onSite(params), body.items),
  update: (ctx, { params, body }) => service.limitReqs.update(ctx, onSite(params), body.items),
  remove: (ctx, { params, body }) => service.limitReqs.remove(ctx, onSite(params), body.ids),
});

export const limitConnsRoutes = routes(limitConns, {
  list:   (ctx, { params }) => service.limitConns.list(ctx, onSite(params)),
  create: (ctx, { params, body }) => service.limitConns.create(ctx, onSite(params), body.items),
  update: (ctx, { params, body }) => service.limitConns.update(ctx, onSite(params), body.items),
  remove: (ctx, { params, body }) => service.limitConns.remove(ctx, onSite(params), body.ids),
});
