import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { onlyAtCreation } from '../modules/modules.ts';
import { LuaAcl, LuaAclInput, LuaAclUpdate } from './lua-acl.ts';

const Page = paging(['name', 'createdAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional() });
const replies = z.object({ data: z.array(LuaAcl) });

export const luaAcls = onSites('luaAcls', {
  list:   get('site/:siteId/module/luaAcls', { can: 'module:read', query: Page, reply: paged(LuaAcl) }),
  create: post('site/:siteId/module/luaAcls', { can: 'module:write', body: z.object({ modules: z.array(LuaAclInput.safeExtend(onlyAtCreation)).min(1).max(20) }), reply: replies, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/luaAcl', { can: 'module:write', body: z.object({ modules: z.array(LuaAclUpdate).min(1).max(20) }), reply: replies, fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/module/luaAcls', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
});
