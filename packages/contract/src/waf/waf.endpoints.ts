import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { onlyAtCreation } from '../modules/modules.ts';
import {
  ExceptionAdded, ExceptionFrom, ExceptionRemoval, RulesSwitched, RuleSwitch, Waf, WafInput, WafLevel, WafRule, WafRuleQuery, WafUpdate,
} from './waf.ts';

const Page = paging(['name', 'createdAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional() });
const replies = z.object({ data: z.array(Waf) });

export const wafs = onSites('wafs', {
  defaultRules: get('module/wafs/defaultRules', { can: 'module:read', query: WafRuleQuery, reply: paged(WafRule).extend({ levels: z.array(WafLevel) }) }),
  list:   get('site/:siteId/module/wafs', { can: 'module:read', query: Page, reply: paged(Waf) }),
  create: post('site/:siteId/module/wafs', { can: 'module:write', body: z.object({ modules: z.array(WafInput.safeExtend(onlyAtCreation)).min(1).max(20) }), reply: replies, fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/waf', { can: 'module:write', body: z.object({ modules: z.array(WafUpdate).min(1).max(20) }), reply: replies, fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/module/wafs', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
  enableRules: put('site/:siteId/module/waf/rules/enable', { can: 'module:write', body: RuleSwitch, reply: RulesSwitched, fails: ['LIMIT_REACHED'] }),
  addException: post('site/:siteId/module/waf/exception', { can: 'module:write', body: ExceptionFrom, reply: ExceptionAdded, fails: ['LIMIT_REACHED'] }),
  removeException: del('site/:siteId/module/waf/exception', { can: 'module:write', body: ExceptionRemoval, reply: ExceptionRemoval.pick({ moduleID: true }) }),
});
