import { clientDomains, domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as bulk from './bulk-domains.service.ts';
import * as cname from './cname.service.ts';
import * as create from './create-domains.service.ts';
import * as proofs from './name-proofs.service.ts';
import * as origins from './probe.service.ts';
import * as service from './domains.service.ts';
import * as upstreams from './upstreams.service.ts';

export const domainsRoutes = routes(domains, {
  list:         (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  byName:       (ctx, { params, query }) => service.find(ctx, params.siteId, { name: query.domainName }),
  get:          (ctx, { params }) => service.find(ctx, params.siteId, { id: params.domainId }),
  simple:       (ctx, { params, query }) => service.listSimple(ctx, params.siteId, query),
  meta:         (ctx, { params, query }) => service.meta(ctx, params.siteId, query),
  update:       (ctx, { params, body }) => service.update(ctx, params, body),
  create:       (ctx, { params, body }) => create.create(ctx, params.siteId, body.domains),
  createSimple: (ctx, { params, body }) => create.createSimple(ctx, params.siteId, body),
  createFrom:   (ctx, { params, body }) => create.createFrom(ctx, params.siteId, body),
  copyToSite:   (ctx, { params, body }) => create.copyToSite(ctx, params.siteId, body),
  refusals:     (ctx, { params, body }) => create.refusals(ctx, params.siteId, body.names),
  export:       (ctx, { params, body }) => bulk.exportText(ctx, params.siteId, body.ids),
  remove:       (ctx, { params, body }) => service.remove(ctx, params.siteId, body),
  removeNamed:  (ctx, { params, body }) => service.removeNamed(ctx, params.siteId, body.names),
  status:       (ctx, { params, body }) => service.setStatus(ctx, params.siteId, body),
  checkCname:   (ctx, { params, body }) => cname.check(ctx, params.siteId, body.ids),
  checkProof:   (ctx, { params, body }) => proofs.check(ctx, params.siteId, body.ids),
  forceSSL:     (ctx, { params, body }) => bulk.setForceSSL(ctx, params.siteId, body),
  tags:         (ctx, { params, query }) => service.tags(ctx, params.siteId, query),
  setTags:      (ctx, { params, body }) => bulk.setTags(ctx, params.siteId, body),
  setUpstreams: (ctx, { params, body }) => bulk.setUpstreams(ctx, params.siteId, body),
  swapAddress:  (ctx, { params, body }) => bulk.swapAddress(ctx, params.siteId, body),
  probe:        (ctx, { params, body }) => origins.probe(ctx, params.siteId, body),
  upstreams:    (ctx, { params, query }) => bulk.upstreams(ctx, params.siteId, query),
  https:        (ctx, { params, body }) => service.setHttps(ctx, params, body),
  scheme:       (ctx, { params }) => service.find(ctx, params.siteId, { id: params.domainId }),
  balance:      (ctx, { params, body }) => service.update(ctx, params, body),
});

export const domainUpstreamsRoutes = routes(domainUpstreams, {
  list:   (ctx, { params, query }) => upstreams.list(ctx, params, query),
  create: (ctx, { params, body }) => upstreams.create(ctx, params, body.upstreams),
  health: (ctx, { params }) => upstreams.health(ctx, params),
  traffic: (ctx, { params }) => upstreams.traffic(ctx, params),
  update: (ctx, { params, body }) => upstreams.update(ctx, params, body.upstreams),
  remove: (ctx, { params, body }) => upstreams.remove(ctx, params, body.ids),
});

export const clientDomainsRoutes = routes(clientDomains, {
  tags: (ctx, { query }) => service.allTags(ctx, query),
  list: (ctx, { query }) => service.listAll(ctx, query),
});
