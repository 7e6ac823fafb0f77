import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './site-dns.service.ts';

export const siteDnsRoutes = routes(siteDns, {
  list:    (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  create:  (ctx, { params, body }) => service.create(ctx, params.siteId, body),
  update:  (ctx, { params, body }) => service.update(ctx, params.siteId, body),
  remove:  (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
  domains: (ctx, { params }) => service.domains(ctx, params.siteId, params.dnsID),
});
