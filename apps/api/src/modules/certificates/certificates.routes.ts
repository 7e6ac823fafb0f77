import { autoCertificates, certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as automatic from './auto-certificates.service.ts';
import * as service from './certificates.service.ts';
import { autoSSL } from './orders.ts';

export const certificatesRoutes = routes(certificates, {
  list:    (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  meta:    (ctx, { params, query }) => service.meta(ctx, params.siteId, query),
  get:     (ctx, { params }) => service.get(ctx, params),
  events:  (ctx, { params, query }) => service.events(ctx, params, query),
  covering: (ctx, { params, body }) => service.covering(ctx, params.siteId, body),
  create:  (ctx, { params, body }) => service.create(ctx, params.siteId, body),
  update:  (ctx, { params, body }) => service.update(ctx, params, body),
  assign:  (ctx, { params, body }) => service.assign(ctx, params, body),
  remove:  (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
  autoSSL: (ctx, { params, body }) => autoSSL(ctx, params.siteId, body.ids),
});

export const autoCertificatesRoutes = routes(autoCertificates, {
  list:  (ctx, { query }) => automatic.list(ctx, query),
  renew: (ctx, { body }) => automatic.renew(ctx, body.ids),
});
