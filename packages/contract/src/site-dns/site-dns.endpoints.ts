import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { SiteDns, SiteDnsInput, SiteDnsUpdate } from './site-dns.ts';

// Calls each zone of an account, at an address that its owner may choose: hence a low rate limit.
export const siteDns = onSites('siteDns', {
  list:    get('site/:siteId/setting/dns', { can: 'dns:read', query: paging(['createdAt', 'provider']), reply: paged(SiteDns) }),
  create:  post('site/:siteId/setting/dns', { can: 'dns:write', limit: 'probe', body: SiteDnsInput, reply: SiteDns, fails: ['INVALID_DNS_SETTING'] }),
  update:  put('site/:siteId/setting/dns', { can: 'dns:write', limit: 'probe', body: SiteDnsUpdate, reply: SiteDns, fails: ['INVALID_DNS_SETTING'] }),
  remove:  del('site/:siteId/setting/dns', { can: 'dns:write', body: Ids, reply: Ids }),
  domains: get('site/:siteId/setting/dns/:dnsID/domains', { can: 'dns:read', limit: 'probe', reply: z.object({ data: z.array(z.object({ name: z.string(), records: z.int().nullable(), error: z.string().nullable() })) }) }),
});
