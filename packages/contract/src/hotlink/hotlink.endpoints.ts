import * as z from 'zod';
import { Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { AntiHeader, AntiHeaderInput, AntiHeaderUpdate, AntiReferer, AntiRefererInput, AntiRefererUpdate } from './hotlink.ts';

const referers = z.object({ data: z.array(AntiReferer) });
const newReferers = z.object({ antiReferers: z.array(AntiRefererInput).min(1).max(50) });
const changedReferers = z.object({ antiReferers: z.array(AntiRefererUpdate).min(1).max(50) });

/** In order. The first rule that matches the URL decides. */
export const antiReferers = onSites('antiReferers', {
  list:   get('site/:siteId/domain/:domainId/antiReferers', { can: 'firewall:read', reply: referers }),
  create: post('site/:siteId/domain/:domainId/antiReferers', { can: 'firewall:write', body: newReferers, reply: referers }),
  update: put('site/:siteId/domain/:domainId/antiReferers', { can: 'firewall:write', body: changedReferers, reply: referers }),
  remove: del('site/:siteId/domain/:domainId/antiReferers', { can: 'firewall:write', body: Ids, reply: Ids }),
});

const headers = z.object({ data: z.array(AntiHeader) });
const newHeaders = z.object({ antiHeaders: z.array(AntiHeaderInput).min(1).max(50) });
const changedHeaders = z.object({ antiHeaders: z.array(AntiHeaderUpdate).min(1).max(50) });

/** In order. The first match refuses. Site rules come before domain rules. */
export const antiHeaders = onSites('antiHeaders', {
  list:   get('site/:siteId/domain/:domainId/antiHeaders', { can: 'firewall:read', reply: headers }),
  create: post('site/:siteId/domain/:domainId/antiHeaders', { can: 'firewall:write', body: newHeaders, reply: headers }),
  update: put('site/:siteId/domain/:domainId/antiHeaders', { can: 'firewall:write', body: changedHeaders, reply: headers }),
  remove: del('site/:siteId/domain/:domainId/antiHeaders', { can: 'firewall:write', body: Ids, reply: Ids }),
});

/** For all domains of the site. */
export const siteAntiHeaders = onSites('siteAntiHeaders', {
  list:   get('site/:siteId/antiHeaders', { can: 'firewall:read', reply: headers }),
  create: post('site/:siteId/antiHeaders', { can: 'firewall:write', body: newHeaders, reply: headers }),
  update: put('site/:siteId/antiHeaders', { can: 'firewall:write', body: changedHeaders, reply: headers }),
  remove: del('site/:siteId/antiHeaders', { can: 'firewall:write', body: Ids, reply: Ids }),
});
