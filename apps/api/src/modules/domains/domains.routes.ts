import { clientDomains, domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as create from './create-domains.service.ts';
import * as service from './domains.service.ts';
import * as upstreams from './upstreams.service.ts';

export const domainsRoutes = routes(domains, {
  list:         (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  byName:       (ctx, { params, query }) => service.find(ctx, params.siteId, { name: query.domainName }),
  get:          (ctx, { params }) => service.find(ctx, params.siteId, { id: params.domainId }),
  simple:       (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  meta:         (ctx, { params, query }) => service.meta(ctx, params.siteId, query.keyword),
  update:       (ctx, { params, body }) => service.update(ctx, params, body),
  create:       (ctx, { params, body }) => create.create(ctx, params.siteId, body.domains),
  createSimple: (ctx, { params, body }) => create.createSimple(ctx, params.siteId, body),
  remove:       (ctx, { params, body }) => service.remove(ctx, params.siteId, body.ids),
  status:       (ctx, { params, body }) => service.setStatus(ctx, params.siteId, body),
  https:        (ctx, { params, body }) => service.setHttps(ctx, params, body),
  scheme:       (ctx, { params }) => service.find(ctx, params.siteId, { id: params.domainId }),
  balance:      (ctx, { params, body }) => service.update(ctx, params, body),
});

export const domainUpstreamsRoutes = routes(domainUpstreams, {
  list:   (ctx, { params, query }) => upstreams.list(ctx, params, query),
  create: (ctx, { params, body }) => upstreams.create(ctx, params, body.upstreams),
  update: (ctx, { params, body }) => upstreams.update(ctx, params, body.upstreams),
  remove: (ctx, { params, body }) => upstreams.remove(ctx, params, body.ids),
});

export const clientDomainsRoutes = routes(clientDomains, {
  list: (ctx, { query }) => service.listAll(ctx, query),
});
