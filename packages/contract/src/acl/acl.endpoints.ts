import * as z from 'zod';
import { Enabling, Id, Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { onlyAtCreation } from '../modules/modules.ts';
import { Acl, AclCopyInput, AclFound, AclInput, AclOrder, AclRule, AclRuleInput, AclRuleUpdate, AclSearchInput, AclUpdate } from './acl.ts';

const Page = paging(['name', 'createdAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional() });
const many = <Input extends z.ZodType>(input: Input) => z.object({ modules: z.array(input).min(1).max(100) });
const replies = z.object({ data: z.array(Acl) });

export const acls = onSites('acls', {
  list:   get('site/:siteId/module/acls', { can: 'module:read', query: Page, reply: paged(Acl) }),
  create: post('site/:siteId/module/acls', { can: 'module:write', body: many(AclInput.safeExtend(onlyAtCreation)), reply: replies, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/acl', { can: 'module:write', body: many(AclUpdate), reply: replies, fails: ['DUPLICATED', 'STILL_ENABLED', 'LIMIT_REACHED'] }),
  remove: del('site/:siteId/module/acls', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
  copy:   post('site/:siteId/acl/copy', { can: 'module:write', body: AclCopyInput, reply: z.object({ siteIDs: z.array(Id) }), fails: ['LIMIT_REACHED'] }),
  search: post('site/:siteId/acl/search', { can: 'module:read', body: AclSearchInput, reply: paged(AclFound) }),
  exists: get('site/:siteId/firewall/setting/adv/exists', { can: 'module:read', reply: z.object({ exists: z.boolean() }) }),
});

export const aclRules = onSites('aclRules', {
  list:   get('site/:siteId/module/acl/:moduleId/rules', { can: 'module:read', query: paging(['position', 'name']), reply: paged(AclRule) }),
  create: post('site/:siteId/module/acl/:moduleId/rule', { can: 'module:write', body: AclRuleInput, reply: AclRule, fails: ['LIMIT_REACHED'] }),
  update: put('site/:siteId/module/acl/:moduleId/rule', { can: 'module:write', body: AclRuleUpdate, reply: AclRule, fails: ['LIMIT_REACHED'] }),
  enable: put('site/:siteId/module/acl/:moduleId/rule/enable', { can: 'module:write', body: Enabling, reply: Ids }),
  order:  put('site/:siteId/module/acl/:moduleId/rules/order', { can: 'module:write', body: AclOrder, reply: AclOrder }),
  remove: del('site/:siteId/module/acl/:moduleId/rules', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_ENABLED'] }),
});
