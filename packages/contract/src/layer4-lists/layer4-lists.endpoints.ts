import { Ids, paged } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import * as l from './layer4-lists.ts';

const can = 'firewall:read';
const write = 'firewall:write';
const [black, white] = ['site/:siteId/firewall/l4/blacklists', 'site/:siteId/firewall/l4/whitelists'] as const;

export const layer4Blacklists = onSites('layer4Blacklists', {
  list:   get(black, { can, query: l.Layer4ListQuery, reply: paged(l.Layer4List) }),
  create: post(black, { can: write, body: l.Layer4ListInput, reply: l.Layer4List }),
  update: put(black, { can: write, body: l.Layer4ListUpdate, reply: l.Layer4List }),
  remove: del(black, { can: write, body: Ids, reply: Ids }),
});

/** White lists take precedence over black lists. */
export const layer4Whitelists = onSites('layer4Whitelists', {
  list:   get(white, { can, query: l.Layer4ListQuery, reply: paged(l.Layer4List) }),
  create: post(white, { can: write, body: l.Layer4ListInput, reply: l.Layer4List }),
  update: put(white, { can: write, body: l.Layer4ListUpdate, reply: l.Layer4List }),
  remove: del(white, { can: write, body: Ids, reply: Ids }),
});
