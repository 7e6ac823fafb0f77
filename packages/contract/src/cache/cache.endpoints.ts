import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { CacheRule, CacheRuleInput, CacheRuleUpdate, CacheSetting, CacheSettingInput, CurrentCache } from './cache.ts';

const written = z.object({ data: z.array(CacheRule) });

export const cacheRules = onSites('cacheRules', {
  list:   get('site/:siteId/setting/cacheRules', { can: 'cache:read', query: paging(['priority', 'createdAt', 'updatedAt']), reply: paged(CacheRule) }),
  create: post('site/:siteId/setting/cacheRules', { can: 'cache:write', body: z.object({ rules: z.array(CacheRuleInput).min(1).max(200) }), reply: written }),
  update: put('site/:siteId/setting/cacheRules', { can: 'cache:write', body: z.object({ rules: z.array(CacheRuleUpdate).min(1).max(200) }), reply: written }),
  remove: del('site/:siteId/setting/cacheRules', { can: 'cache:write', body: Ids, reply: Ids }),
});

export const cacheSetting = onSites('cacheSetting', {
  get:    get('site/:siteId/setting/cache', { can: 'cache:read', reply: CacheSetting }),
  update: put('site/:siteId/setting/cache', { can: 'cache:write', body: CacheSettingInput, reply: CacheSetting }),
});

export const currentCache = onSites('currentCache', {
  get: get('site/:siteId/setting/currentCache', { can: 'cache:read', reply: CurrentCache }),
});
