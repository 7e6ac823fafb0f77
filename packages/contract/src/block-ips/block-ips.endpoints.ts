import * as z from 'zod';
import { Ids, paged } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import * as b from './block-ips.ts';

const can = 'firewall:read';
const write = 'firewall:write';

export const blockIPs = onSites('blockIPs', {
  list:            get('blockIPs', { can, query: b.BlocksQuery, reply: paged(b.BlockedAddress) }),
  remove:          del('blockIPs', { can: write, body: b.Unblocking, reply: b.Unblocked }),
  restore:         put('blockIPs/restore', { can: write, body: Ids, reply: z.object({ restored: z.int().min(0) }) }),
  own:             get('blockIPs/own', { can: 'signedIn', reply: b.OwnBlock }),
  removeOwn:       del('blockIPs/own', { can: 'signedIn', reply: b.Unblocked }),
  ofSite:          get('site/:siteId/firewall/blockIPs', { can, query: b.SiteBlocksQuery, reply: paged(b.BlockedAddress) }),
  removeOfSite:    del('site/:siteId/firewall/blockIPs', { can: write, body: b.SiteUnblocking, reply: b.Unblocked }),
  removeAllOfSite: del('site/:siteId/firewall/blockIPs/all', { can: write, reply: b.Unblocked }),
  block:           post('site/:siteId/firewall/blockIPs', { can: write, body: b.ListEntry, reply: b.EntryAdded }),
  exempt:          post('site/:siteId/firewall/exemptions', { can: write, body: b.Exemption, reply: b.EntryAdded }),
});
