import { antiHeaders, antiReferers, siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { onSite } from '../../core/rule-list.ts';
import { routes } from '../../http/bind.ts';
import * as service from './hotlink.service.ts';

export const antiReferersRoutes = routes(antiReferers, {
  list:   (ctx, { params }) => service.antiReferers.list(ctx, params),
  create: (ctx, { params, body }) => service.antiReferers.create(ctx, params, body.antiReferers),
  update: (ctx, { params, body }) => service.antiReferers.update(ctx, params, body.antiReferers),
  remove: (ctx, { params, body }) => service.antiReferers.remove(ctx, params, body.ids),
});

export const antiHeadersRoutes = routes(antiHeaders, {
  list:   (ctx, { params }) => service.antiHeaders.list(ctx, params),
  create: (ctx, { params, body }) => service.antiHeaders.create(ctx, params, body.antiHeaders),
  update: (ctx, { params, body }) => service.antiHeaders.update(ctx, params, body.antiHeaders),
  remove: (ctx, { params, body }) => service.antiHeaders.remove(ctx, params, body.ids),
});

export const siteAntiHeadersRoutes = routes(siteAntiHeaders, {
  list:   (ctx, { params }) => service.antiHeaders.list(ctx, onSite(params)),
  create: (ctx, { params, body }) => service.antiHeaders.create(ctx, onSite(params), body.antiHeaders),
  update: (ctx, { params, body }) => service.antiHeaders.update(ctx, onSite(params), body.antiHeaders),
  remove: (ctx, { params, body }) => service.antiHeaders.remove(ctx, onSite(params), body.ids),
});
