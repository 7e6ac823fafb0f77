import * as z from 'zod';
import { Id, Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, post } from '../endpoint.ts';
import { PreheatCache, PreheatCachesInput, PreheatCopy } from './preheat-caches.ts';

const Search = { url: z.string().max(2048).optional() };

export const preheatCaches = onClient('preheatCaches', {
  list:   get('zone/:zoneId/setting/preheatCaches', { can: 'zone:read', query: paging(['createdAt', 'url']).extend(Search), reply: paged(PreheatCache) }),
  create: post('zone/:zoneId/setting/preheatCaches', { can: 'zone:write', body: PreheatCachesInput, reply: z.object({ ids: z.array(Id) }), fails: ['LIMIT_REACHED'] }),
  remove: del('zone/:zoneId/setting/preheatCaches', { can: 'zone:write', body: Ids, reply: Ids }),
  warm:   post('zone/:zoneId/setting/preheatCaches/warm', { can: 'zone:write', body: Ids, reply: Ids }),
  copies: get('zone/:zoneId/setting/preheatCache/:preheatId/nodes', { can: 'zone:read', reply: z.object({ data: z.array(PreheatCopy) }) }),
});
