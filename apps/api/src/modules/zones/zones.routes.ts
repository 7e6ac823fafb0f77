import { zonePorts, zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as ports from './zone-ports.service.ts';
import * as service from './zones.service.ts';

export const zonesRoutes = routes(zones, {
  list:   (ctx, { query }) => service.list(ctx, query),
  meta:   (ctx, { query }) => service.meta(ctx, query),
  get:    (ctx, { params }) => service.get(ctx, params.zoneId),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  forceSSLRedirectCode: (ctx, { params, body }) => service.setRedirectCode(ctx, params.zoneId, body.code, body.reason),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});

export const zonePortsRoutes = routes(zonePorts, {
  list:   (ctx, { params }) => ports.list(ctx, params.zoneId),
  create: (ctx, { params, body }) => ports.create(ctx, params.zoneId, body),
  update: (ctx, { params, body }) => ports.update(ctx, params.zoneId, body),
  remove: (ctx, { params, body }) => ports.remove(ctx, params.zoneId, body),
});
