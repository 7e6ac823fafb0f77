import * as z from 'zod';
import { Enabling, Id, Ids, Meta, MetaQuery, NameSearch, paged, paging, Tags, TagsInUse, Text } from '../common/common.ts';
import { del, get, onClient, onSites, patch, post, put } from '../endpoint.ts';
import { AddressSwap, Balance, CertStatus, CloneInput, CnameCheck, CnameStatus, CopyInput, Created, Domain, DomainRemoval, DomainRow, DomainsInput, DomainUpdate, HttpsInput, NamesInput, OriginHealth, OriginsTraffic, Probe, ProbeInput, ProofCheck, ProofCheckInput, Refusal, Scheme, SimpleDomain, SimpleDomainsInput, SiteDomain, SiteUpstream, Upstream, UpstreamInput, Upstreams } from './domains.ts';

const Filter = {
  keywords: z.string().max(256).optional().describe('Part of the name, of an origin or of a tag'),
  tags: z.array(z.string().max(64)).max(20).optional(),
  cnameStatuses: z.array(CnameStatus).optional(),
  certStatus: z.array(CertStatus).optional(),
  certificateID: Id.optional().describe('Served with this certificate'),
  forceSSL: z.boolean().optional(),
  certificateMissing: z.boolean().optional().describe('Forces HTTPS or has HSTS, but no certificate, so that neither is in force'),
  enabled: z.boolean().optional(),
  createdAtStart: z.iso.datetime().optional(), createdAtEnd: z.iso.datetime().optional(),
  updatedAtStart: z.iso.datetime().optional(), updatedAtEnd: z.iso.datetime().optional(),
};
const Page = paging(['createdAt', 'name', 'updatedAt']);
const createFails = ['MULTIPLE', 'DOMAINS_LOCKED', 'DUPLICATED', 'DOMAIN_TAKEN', 'PUBLIC_SUFFIX', 'DOMAIN_LIMIT', 'LICENSE_EXPIRED', 'ILLEGAL_PORT_MAP', 'NO_ENABLED_UPSTREAM'] as const;
const origins = z.object({ data: z.array(Upstream) });

export const domains = onSites('domains', {
  list:         get('site/:siteId/domains', { can: 'domain:read', query: Page.extend(Filter), reply: paged(DomainRow) }),
  byName:       get('site/:siteId/domain', { can: 'domain:read', query: z.object({ domainName: Text }), reply: Domain }),
  get:          get('site/:siteId/domain/:domainId', { can: 'domain:read', reply: Domain }),
  simple:       get('site/:siteId/simpleDomains', { can: 'domain:read', query: Page.extend({ keywords: Filter.keywords }), reply: paged(SimpleDomain) }),
  meta:         get('site/:siteId/metaDomains', { can: 'domain:read', query: MetaQuery, reply: Meta }),
  update:       put('site/:siteId/domain/:domainId', { can: 'domain:write', body: DomainUpdate, reply: Domain }),
  create:       post('site/:siteId/domains', { can: 'domain:write', body: DomainsInput, reply: Created, fails: createFails }),
  createSimple: post('site/:siteId/simpleDomains', { can: 'domain:write', body: SimpleDomainsInput, reply: Created, fails: createFails }),
  createFrom:   post('site/:siteId/domains/createFrom', { can: 'domain:write', body: CloneInput, reply: Created, fails: createFails }),
  copyToSite:   post('site/:siteId/domains/copyToSite', { can: 'domain:write', body: CopyInput, reply: Ids, fails: ['MULTIPLE', 'DOMAINS_LOCKED', 'DUPLICATED', 'PUBLIC_SUFFIX', 'DOMAIN_LIMIT', 'LICENSE_EXPIRED', 'ILLEGAL_PORT_MAP'] }),
  refusals:     post('site/:siteId/domains/refusals', { can: 'domain:read', body: NamesInput, reply: z.object({ data: z.array(Refusal) }) }),
  export:       post('site/:siteId/domains/export', { can: 'domain:read', body: Ids, answers: 'text/plain' }),
  remove:       del('site/:siteId/domains', { can: 'domain:write', body: DomainRemoval, reply: Ids, fails: ['STILL_ENABLED', 'DOMAINS_LOCKED'] }),
  removeNamed:  del('site/:siteId/domains/names', { can: 'domain:write', body: NamesInput, reply: Ids, fails: ['MULTIPLE', 'STILL_ENABLED', 'DOMAINS_LOCKED'] }),
  status:       put('site/:siteId/domains/status', { can: 'domain:write', body: Enabling, reply: Ids, fails: ['DOMAIN_TAKEN', 'NAME_UNPROVEN', 'PUBLIC_SUFFIX', 'MULTIPLE'] }),
  checkProof:   put('site/:siteId/domains/checkProof', { can: 'domain:write', limit: 'probe', body: ProofCheckInput, reply: z.object({ data: z.array(ProofCheck) }) }),
  checkCname:   put('site/:siteId/domains/checkCname', { can: 'domain:write', limit: 'probe', body: Ids, reply: z.object({ data: z.array(CnameCheck) }), fails: ['DNS_FAILED', 'INVALID_DNS_SETTING'] }),
  forceSSL:     patch('site/:siteId/domains/forceSSL', { can: 'domain:write', body: Ids.extend({ forceSSL: z.boolean() }), reply: Ids }),
  tags:         get('site/:siteId/domains/tags', { can: 'domain:read', query: NameSearch, reply: TagsInUse }),
  setTags:      put('site/:siteId/domains/tags', { can: 'domain:write', body: Ids.extend({ tags: Tags }), reply: Ids }),
  setUpstreams: put('site/:siteId/domains/upstreams', { can: 'domain:write', body: Ids.extend({ upstreams: Upstreams }), reply: Ids, fails: ['NO_ENABLED_UPSTREAM'] }),
  swapAddress:  put('site/:siteId/domains/upstreamIPs', { can: 'domain:write', body: AddressSwap, reply: z.object({ ids: z.array(Id) }), fails: ['MULTIPLE', 'DUPLICATED'] }),
  probe:        post('site/:siteId/upstreams/probe', { can: 'domain:write', limit: 'probe', body: ProbeInput, reply: Probe }),
  upstreams:    get('site/:siteId/upstreams', { can: 'domain:read', query: paging(['address', 'domainName', 'port', 'weight']).extend({ keyword: z.string().max(256).optional() }), reply: paged(SiteUpstream) }),
  https:        put('site/:siteId/domain/:domainId/https', { can: 'domain:write', body: HttpsInput, reply: Domain, fails: ['ILLEGAL_PORT_MAP'] }),
  scheme:       get('site/:siteId/domain/:domainId/scheme', { can: 'domain:read', reply: Scheme }),
  balance:      patch('site/:siteId/domain/:domainId/balance', { can: 'domain:write', body: Balance.partial(), reply: Domain }),
});

export const domainUpstreams = onSites('domainUpstreams', {
  list:   get('site/:siteId/domain/:domainId/upstreams', { can: 'domain:read', query: z.object({ keyword: z.string().max(256).optional(), sortBy: z.enum(['address', 'port', 'weight']).default('address'), orderBy: z.enum(['asc', 'desc']).default('asc') }), reply: origins }),
  create: post('site/:siteId/domain/:domainId/upstreams', { can: 'domain:write', body: z.object({ upstreams: Upstreams }), reply: origins, fails: ['DUPLICATED'] }),
  health: get('site/:siteId/domain/:domainId/health', { can: 'domain:read', reply: z.object({ data: z.array(OriginHealth) }) }),
  traffic: get('site/:siteId/domain/:domainId/upstreams/traffic', { can: 'statistics:read', reply: OriginsTraffic }),
  update: put('site/:siteId/domain/:domainId/upstreams', { can: 'domain:write', body: z.object({ upstreams: z.array(UpstreamInput.extend({ id: Id })).min(1).max(100) }), reply: origins, fails: ['DUPLICATED', 'NO_ENABLED_UPSTREAM'] }),
  remove: del('site/:siteId/domain/:domainId/upstreams', { can: 'domain:write', body: Ids, reply: origins, fails: ['NO_ENABLED_UPSTREAM'] }),
});

export const clientDomains = onClient('clientDomains', {
  tags: get('domains/tags', { can: 'domain:read', query: NameSearch, reply: TagsInUse }),
  list: get('domains', { can: 'domain:read', query: Page.extend(Filter).extend({ siteID: Id.optional() }), reply: paged(SiteDomain) }),
});
