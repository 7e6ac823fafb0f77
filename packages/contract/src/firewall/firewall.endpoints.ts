import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import * as f from './firewall.ts';

const can = 'firewall:read';
const write = 'firewall:write';
const RuleQuery = paging(['createdAt', 'updatedAt']);
const GeoQuery = RuleQuery.extend({
  isBlack: z.boolean().optional(),
  names: z.array(z.string().max(64)).max(50).optional().describe('Parts of the names of regions'),
});

export const firewall = onSites('firewall', {
  settings:      get('site/:siteId/firewall/settings', { can, reply: f.FirewallSettings }),
  abuseIP:       get('site/:siteId/firewall/abuseIP', { can, reply: f.AbuseIP }),
  updateAbuseIP: put('site/:siteId/firewall/abuseIP', { can: write, body: f.AbuseIPInput, reply: f.AbuseIP }),
  updateAdvance: put('site/:siteId/firewall/advance', { can: write, body: f.FirewallAdvanceInput, reply: f.FirewallAdvance }),
  regions:       get('geoips', { can, reply: f.GeoRegions }),
});

export const blacklists = onSites('blacklists', {
  list:   get('site/:siteId/firewall/blacklists', { can, query: f.AddressListQuery, reply: paged(f.AddressList) }),
  create: post('site/:siteId/firewall/blacklists', { can: write, body: f.AddressListInput, reply: f.AddressList }),
  update: put('site/:siteId/firewall/blacklists', { can: write, body: f.AddressListUpdate, reply: f.AddressList }),
  remove: del('site/:siteId/firewall/blacklists', { can: write, body: Ids, reply: Ids }),
});

/** They skip the site's own protection, and none of the operator's. */
export const whitelists = onSites('whitelists', {
  list:   get('site/:siteId/firewall/whitelists', { can, query: f.AddressListQuery, reply: paged(f.AddressList) }),
  create: post('site/:siteId/firewall/whitelists', { can: write, body: f.AddressListInput, reply: f.AddressList }),
  update: put('site/:siteId/firewall/whitelists', { can: write, body: f.AddressListUpdate, reply: f.AddressList }),
  remove: del('site/:siteId/firewall/whitelists', { can: write, body: Ids, reply: Ids }),
});

export const geos = onSites('geos', {
  list:   get('site/:siteId/firewall/geos', { can, query: GeoQuery, reply: paged(f.GeoRule) }),
  create: post('site/:siteId/firewall/geos', { can: write, body: f.GeoRuleInput, reply: f.GeoRule }),
  update: put('site/:siteId/firewall/geos', { can: write, body: f.GeoRuleUpdate, reply: f.GeoRule }),
  remove: del('site/:siteId/firewall/geos', { can: write, body: Ids, reply: Ids }),
});

export const userAgents = onSites('userAgents', {
  list:   get('site/:siteId/firewall/userAgents', { can, query: RuleQuery, reply: paged(f.UserAgentRule) }),
  create: post('site/:siteId/firewall/userAgents', { can: write, body: f.UserAgentInput, reply: f.UserAgentRule }),
  update: put('site/:siteId/firewall/userAgents', { can: write, body: f.UserAgentUpdate, reply: f.UserAgentRule }),
  remove: del('site/:siteId/firewall/userAgents', { can: write, body: Ids, reply: Ids }),
});
