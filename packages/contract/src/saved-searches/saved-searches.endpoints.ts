import * as z from 'zod';
import { Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { SavedSearch, SavedSearchInput, SavedSearchUpdate } from './saved-searches.ts';

export const savedSearches = onSites('savedSearches', {
  list:   get('logs/searches', { can: 'log:read', reply: z.object({ data: z.array(SavedSearch) }) }),
  create: post('logs/search', { can: 'log:write', body: SavedSearchInput, reply: SavedSearch, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('logs/search', { can: 'log:write', body: SavedSearchUpdate, reply: SavedSearch, fails: ['DUPLICATED'] }),
  remove: del('logs/searches', { can: 'log:write', body: Ids, reply: Ids }),
});
