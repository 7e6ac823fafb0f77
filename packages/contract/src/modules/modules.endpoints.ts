import * as z from 'zod';
import { Id, Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { Cors, CorsInput, CorsUpdate } from './cors.ts';
import { CustomHeader, CustomHeaderInput, CustomHeaderUpdate } from './custom-headers.ts';
import { AssignInput, Assignment, ModuleKind } from './modules.ts';

const Page = paging(['name', 'createdAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional() });
const kind = { kind: ModuleKind };
const many = <Input extends z.ZodType>(input: Input) => z.array(input).min(1).max(100);

export const domainModules = onSites('domainModules', {
  list:   get('site/:siteId/domains/module/:kind', { can: 'module:read', params: kind, query: paging(['domainName', 'moduleName']).extend({ moduleID: Id.optional(), domainID: Id.optional() }), reply: paged(Assignment) }),
  assign: put('site/:siteId/domains/module/:kind', { can: 'module:write', params: kind, body: AssignInput, reply: z.object({ domains: z.int() }) }),
});

export const customHeaders = onSites('customHeaders', {
  list:   get('site/:siteId/module/customHeaders', { can: 'module:read', query: Page, reply: paged(CustomHeader) }),
  create: post('site/:siteId/module/customHeaders', { can: 'module:write', body: z.object({ modules: many(CustomHeaderInput) }), reply: z.object({ data: z.array(CustomHeader) }), fails: ['DUPLICATED', 'DUPLICATE_KEYS', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/customHeader', { can: 'module:write', body: z.object({ modules: many(CustomHeaderUpdate) }), reply: z.object({ data: z.array(CustomHeader) }), fails: ['DUPLICATED', 'DUPLICATE_KEYS'] }),
  remove: del('site/:siteId/module/customHeaders', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
});

export const cors = onSites('cors', {
  list:   get('site/:siteId/module/cors', { can: 'module:read', query: Page, reply: paged(Cors) }),
  create: post('site/:siteId/module/cors', { can: 'module:write', body: z.object({ cors: many(CorsInput) }), reply: z.object({ data: z.array(Cors) }), fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/cors', { can: 'module:write', body: z.object({ cors: many(CorsUpdate) }), reply: z.object({ data: z.array(Cors) }), fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/module/cors', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
});
