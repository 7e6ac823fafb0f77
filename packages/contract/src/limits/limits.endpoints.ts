import * as z from 'zod';
import { Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import {
  Frequency,
  FrequencyInput,
  FrequencyUpdate,
  LimitConn,
  LimitConnInput,
  LimitConnUpdate,
  LimitReq,
  LimitReqInput,
  LimitReqUpdate,
} from './limits.ts';

/** In order. All rules that match count; the first that is exceeded refuses the request. */
export const frequencies = onSites('frequencies', {
  list:   get('site/:siteId/firewall/frequencies', { can: 'firewall:read', reply: z.object({ data: z.array(Frequency) }) }),
  create: post('site/:siteId/firewall/frequencies', { can: 'firewall:write', body: z.object({ items: z.array(FrequencyInput).min(1).max(50) }), reply: z.object({ data: z.array(Frequency) }) }),
  update: put('site/:siteId/firewall/frequencies', { can: 'firewall:write', body: z.object({ items: z.array(FrequencyUpdate).min(1).max(50) }), reply: z.object({ data: z.array(Frequency) }) }),
  remove: del('site/:siteId/firewall/frequencies', { can: 'firewall:write', body: Ids, reply: Ids }),
});

/** As frequencies. */
export const limitReqs = onSites('limitReqs', {
  list:   get('site/:siteId/firewall/limitReqs', { can: 'firewall:read', reply: z.object({ data: z.array(LimitReq) }) }),
  create: post('site/:siteId/firewall/limitReqs', { can: 'firewall:write', body: z.object({ items: z.array(LimitReqInput).min(1).max(50) }), reply: z.object({ data: z.array(LimitReq) }) }),
  update: put('site/:siteId/firewall/limitReqs', { can: 'firewall:write', body: z.object({ items: z.array(LimitReqUpdate).min(1).max(50) }), reply: z.object({ data: z.array(LimitReq) }) }),
  remove: del('site/:siteId/firewall/limitReqs', { can: 'firewall:write', body: Ids, reply: Ids }),
});

/** As frequencies. */
export const limitConns = onSites('limitConns', {
  list:   get('site/:siteId/firewall/limitConns', { can: 'firewall:read', reply: z.object({ data: z.array(LimitConn) }) }),
  create: post('site/:siteId/firewall/limitConns', { can: 'firewall:write', body: z.object({ items: z.array(LimitConnInput).min(1).max(50) }), reply: z.object({ data: z.array(LimitConn) }) }),
  update: put('site/:siteId/firewall/limitConns', { can: 'firewall:write', body: z.object({ items: z.array(LimitConnUpdate).min(1).max(50) }), reply: z.object({ data: z.array(LimitConn) }) }),
  remove: del('site/:siteId/firewall/limitConns', { can: 'firewall:write', body: Ids, reply: Ids }),
});
