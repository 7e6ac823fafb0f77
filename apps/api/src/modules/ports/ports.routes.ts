import { ports, portUpstreams, sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as upstreams from './port-upstreams.service.ts';
import * as service from './ports.service.ts';
import * as opened from './site-ports.service.ts';

export const portsRoutes = routes(ports, {
  list:        (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  create:      (ctx, { params, body }) => service.create(ctx, params.siteId, body.ports),
  createLines: (ctx, { params, body }) => service.createLines(ctx, params.siteId, body.lines),
  update:      (ctx, { params, body }) => service.update(ctx, params, body),
  status:      (ctx, { params, body }) => service.setStatus(ctx, params.siteId, body),
  remove:      (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
});

export const portUpstreamsRoutes = routes(portUpstreams, {
  list:   (ctx, { params, query }) => upstreams.list(ctx, params, query),
  create: (ctx, { params, body }) => upstreams.create(ctx, params, body.upstreams),
  update: (ctx, { params, body }) => upstreams.update(ctx, params, body.upstreams),
  remove: (ctx, { params, body }) => upstreams.remove(ctx, params, body.ids),
});

export const sitePortsRoutes = routes(sitePorts, {
  list:  (ctx, { params }) => opened.list(ctx, params.siteId),
  open:  (ctx, { params, body }) => opened.open(ctx, params.siteId, body.ports),
  close: (ctx, { params, body }) => opened.close(ctx, params.siteId, body.ids),
});
