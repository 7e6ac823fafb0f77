import * as z from 'zod';
import { Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { SiteAntiCC, SiteAntiCCInput, SiteAntiCCUpdate } from './site-anti-cc.ts';

/** In order. The first rule that matches a request applies. */
export const antiCCs = onSites('antiCCs', {
  options: get('site/:siteId/firewall/anticc/options', { can: 'firewall:read', reply: z.object({ data: z.array(z.object({ frequency: z.int(), seconds: z.int() })) }) }),
  list:    get('site/:siteId/firewall/anticcs', { can: 'firewall:read', reply: z.object({ data: z.array(SiteAntiCC) }) }),
  create:  post('site/:siteId/firewall/anticcs', { can: 'firewall:write', body: z.object({ items: z.array(SiteAntiCCInput).min(1).max(50) }), reply: z.object({ data: z.array(SiteAntiCC) }) }),
  update:  put('site/:siteId/firewall/anticcs', { can: 'firewall:write', body: z.object({ items: z.array(SiteAntiCCUpdate).min(1).max(50) }), reply: z.object({ data: z.array(SiteAntiCC) }) }),
  remove:  del('site/:siteId/firewall/anticcs', { can: 'firewall:write', body: Ids, reply: Ids }),
});
