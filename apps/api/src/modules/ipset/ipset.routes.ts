import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './ipset.service.ts';

export const ipsetRoutes = routes(ipset, {
  get:    (ctx, { params, query }) => service.get(ctx, params.zoneId, query),
  faults: (ctx, { params, query }) => service.faults(ctx, params.zoneId, query),
  set:    (ctx, { params, body }) => service.set(ctx, params.zoneId, body),
  flush:  (ctx, { params }) => service.flush(ctx, params.zoneId),
  create: (ctx, { params, body }) => service.create(ctx, params.zoneId, body),
  remove: (ctx, { params, body }) => service.remove(ctx, params.zoneId, body.ids),
});
