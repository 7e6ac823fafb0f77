import * as z from 'zod';
import { Enabling, Id, Ids, Meta, paged, paging, Text } from '../common/common.ts';
import { del, get, onClient, onSites, patch, post, put } from '../endpoint.ts';
import { Balance, CertStatus, CnameStatus, Domain, DomainsInput, DomainUpdate, HttpsInput, Scheme, SimpleDomain, SimpleDomainsInput, SiteDomain, Upstream, UpstreamInput, Upstreams } from './domains.ts';

const Filter = {
  keywords: z.string().max(256).optional().describe('Part of the name, of an origin or of a tag'),
  tags: z.array(z.string().max(64)).max(20).optional(),
  cnameStatuses: z.array(CnameStatus).optional(),
  certStatus: z.array(CertStatus).optional(),
  forceSSL: z.boolean().optional(),
  enabled: z.boolean().optional(),
  createdAtStart: z.iso.datetime().optional(), createdAtEnd: z.iso.datetime().optional(),
  updatedAtStart: z.iso.datetime().optional(), updatedAtEnd: z.iso.datetime().optional(),
};
const Page = paging(['createdAt', 'name', 'updatedAt']);
const origins = z.object({ data: z.array(Upstream) });

export const domains = onSites('domains', {
  list:         get('site/:siteId/domains', { can: 'domain:read', query: Page.extend(Filter), reply: paged(Domain) }),
  byName:       get('site/:siteId/domain', { can: 'domain:read', query: z.object({ domainName: Text }), reply: Domain }),
  get:          get('site/:siteId/domain/:domainId', { can: 'domain:read', reply: Domain }),
  simple:       get('site/:siteId/simpleDomains', { can: 'domain:read', query: Page.extend({ keywords: Filter.keywords }), reply: paged(SimpleDomain) }),
  meta:         get('site/:siteId/metaDomains', { can: 'domain:read', query: z.object({ keyword: z.string().max(256).optional() }), reply: Meta }),
  update:       put('site/:siteId/domain/:domainId', { can: 'domain:write', body: DomainUpdate, reply: Domain }),
  create:       post('site/:siteId/domains', { can: 'domain:write', body: DomainsInput, reply: Ids, fails: ['MULTIPLE', 'DOMAIN_TAKEN', 'DOMAIN_LIMIT', 'ILLEGAL_PORT_MAP', 'NO_ENABLED_UPSTREAM'] }),
  createSimple: post('site/:siteId/simpleDomains', { can: 'domain:write', body: SimpleDomainsInput, reply: Ids, fails: ['MULTIPLE', 'DOMAIN_TAKEN', 'DOMAIN_LIMIT', 'ILLEGAL_PORT_MAP', 'NO_ENABLED_UPSTREAM'] }),
  remove:       del('site/:siteId/domains', { can: 'domain:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED'] }),
  status:       put('site/:siteId/domains/status', { can: 'domain:write', body: Enabling, reply: Ids, fails: ['DOMAIN_TAKEN', 'MULTIPLE'] }),
  https:        put('site/:siteId/domain/:domainId/https', { can: 'domain:write', body: HttpsInput, reply: Domain, fails: ['ILLEGAL_PORT_MAP'] }),
  scheme:       get('site/:siteId/domain/:domainId/scheme', { can: 'domain:read', reply: Scheme }),
  balance:      patch('site/:siteId/domain/:domainId/balance', { can: 'domain:write', body: Balance, reply: Domain }),
});

export const domainUpstreams = onSites('domainUpstreams', {
  list:   get('site/:siteId/domain/:domainId/upstreams', { can: 'domain:read', query: z.object({ keyword: z.string().max(256).optional(), sortBy: z.enum(['address', 'port', 'weight']).default('address'), orderBy: z.enum(['asc', 'desc']).default('asc') }), reply: origins }),
  create: post('site/:siteId/domain/:domainId/upstreams', { can: 'domain:write', body: z.object({ upstreams: Upstreams }), reply: origins, fails: ['DUPLICATED'] }),
  update: put('site/:siteId/domain/:domainId/upstreams', { can: 'domain:write', body: z.object({ upstreams: z.array(UpstreamInput.extend({ id: Id })).min(1).max(100) }), reply: origins, fails: ['DUPLICATED', 'NO_ENABLED_UPSTREAM'] }),
  remove: del('site/:siteId/domain/:domainId/upstreams', { can: 'domain:write', body: Ids, reply: origins, fails: ['NO_ENABLED_UPSTREAM'] }),
});

export const clientDomains = onClient('clientDomains', {
  list: get('domains', { can: 'domain:read', query: Page.extend(Filter).extend({ siteID: Id.optional() }), reply: paged(SiteDomain) }),
});
