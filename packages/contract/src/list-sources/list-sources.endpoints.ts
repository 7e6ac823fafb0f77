import { Ids, paged } from '../common/common.ts';
import { del, get, onClient, onSites, post, put } from '../endpoint.ts';
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

/** Subscribed lists of a zone, for the visitors of all its sites. */
export const zoneListSources = onClient('zoneListSources', {
  list:    get('zone/:zoneId/setting/firewall/sources', { can: 'zone:read', query: l.ListSourceQuery, reply: paged(l.ListSource) }),
  create:  post('zone/:zoneId/setting/firewall/sources', { can: 'zone:write', body: l.ListSourceInput, reply: l.ListSource }),
  update:  put('zone/:zoneId/setting/firewall/sources', { can: 'zone:write', body: l.ListSourceUpdate, reply: l.ListSource }),
  remove:  del('zone/:zoneId/setting/firewall/sources', { can: 'zone:write', body: Ids, reply: Ids }),
  /** Each at most once a minute. */
  refresh: post('zone/:zoneId/setting/firewall/sources/refresh', { can: 'zone:write', body: Ids, reply: Ids }),
});
