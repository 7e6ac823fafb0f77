import { Ids, paged } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import * as l from './list-sources.ts';

const can = 'firewall:read';
const write = 'firewall:write';

export const listSources = onSites('listSources', {
  list:    get('site/:siteId/firewall/sources', { can, query: l.ListSourceQuery, reply: paged(l.ListSource) }),
  create:  post('site/:siteId/firewall/sources', { can: write, body: l.ListSourceInput, reply: l.ListSource }),
  update:  put('site/:siteId/firewall/sources', { can: write, body: l.ListSourceUpdate, reply: l.ListSource }),
  remove:  del('site/:siteId/firewall/sources', { can: write, body: Ids, reply: Ids }),
  /** Each at most once a minute. */
  refresh: post('site/:siteId/firewall/sources/refresh', { can: write, body: Ids, reply: Ids }),
});
