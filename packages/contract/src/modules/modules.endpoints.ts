import * as z from 'zod';
import { Enabling, Id, Ids, paged, paging } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { Cors, CorsInput, CorsUpdate } from './cors.ts';
import { CustomHeader, CustomHeaderInput, CustomHeaderUpdate } from './custom-headers.ts';
import { AssignInput, Assignment, ModuleKind, onlyAtCreation } from './modules.ts';
import { ProxyRewrite, ProxyRewriteInput, ProxyRewriteSettings, ProxyRewriteUpdate, RewriteItems } from './proxy-rewrites.ts';
import { Redirect, RedirectInput, REDIRECTS_OF_A_SITE, RedirectType, RedirectUpdate, Replaced, ReplaceInput, UrlRedirect, UrlRedirectInput, UrlRedirectUpdate } from './redirects.ts';
import { Signed, SignInput, TokenAuth, TokenAuthInput, TokenAuthItems, TokenAuthSettings, TokenAuthUpdate, TokenCheckInput, TokenCheckResult } from './token-auths.ts';

const Page = paging(['name', 'createdAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional() });
const kind = { kind: ModuleKind };
const many = <Input extends z.ZodType>(input: Input) => z.array(input).min(1).max(100);

export const domainModules = onSites('domainModules', {
  list:   get('site/:siteId/domains/module/:kind', { can: 'module:read', params: kind, query: paging(['domainName', 'moduleName']).extend({ moduleID: Id.optional(), domainID: Id.optional() }), reply: paged(Assignment) }),
  assign: put('site/:siteId/domains/module/:kind', { can: 'module:write', params: kind, body: AssignInput, reply: z.object({ domains: z.int() }) }),
});

export const customHeaders = onSites('customHeaders', {
  list:   get('site/:siteId/module/customHeaders', { can: 'module:read', query: Page, reply: paged(CustomHeader) }),
  create: post('site/:siteId/module/customHeaders', { can: 'module:write', body: z.object({ modules: many(CustomHeaderInput.safeExtend(onlyAtCreation)) }), reply: z.object({ data: z.array(CustomHeader) }), fails: ['DUPLICATED', 'DUPLICATE_KEYS', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/customHeader', { can: 'module:write', body: z.object({ modules: many(CustomHeaderUpdate) }), reply: z.object({ data: z.array(CustomHeader) }), fails: ['DUPLICATED', 'DUPLICATE_KEYS'] }),
  remove: del('site/:siteId/module/customHeaders', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
});

export const cors = onSites('cors', {
  list:   get('site/:siteId/module/cors', { can: 'module:read', query: Page, reply: paged(Cors) }),
  create: post('site/:siteId/module/cors', { can: 'module:write', body: z.object({ cors: many(CorsInput.safeExtend(onlyAtCreation)) }), reply: z.object({ data: z.array(Cors) }), fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/cors', { can: 'module:write', body: z.object({ cors: many(CorsUpdate) }), reply: z.object({ data: z.array(Cors) }), fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/module/cors', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
});

export const urlRedirects = onSites('urlRedirects', {
  list:   get('site/:siteId/module/urlRedirects', { can: 'module:read', query: Page, reply: paged(UrlRedirect) }),
  create: post('site/:siteId/module/urlRedirects', { can: 'module:write', body: z.object({ modules: many(UrlRedirectInput.safeExtend(onlyAtCreation)) }), reply: z.object({ data: z.array(UrlRedirect) }), fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update: put('site/:siteId/module/urlRedirect', { can: 'module:write', body: z.object({ modules: many(UrlRedirectUpdate) }), reply: z.object({ data: z.array(UrlRedirect) }), fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/module/urlRedirects', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
});

const batch = <Input extends z.ZodType>(input: Input) => z.object({ redirects: z.array(input).min(1).max(REDIRECTS_OF_A_SITE) });
export const redirects = onSites('redirects', {
  list:    get('site/:siteId/module/urlRedirect/:moduleId/redirects', { can: 'module:read', query: paging(['createdAt', 'source', 'target', 'priority', 'updatedAt']).extend({ keyword: z.string().max(256).optional(), types: z.array(RedirectType).optional(), enabled: z.boolean().optional() }), reply: paged(Redirect) }),
  create:  post('site/:siteId/module/urlRedirect/:moduleId/redirects', { can: 'module:write', body: batch(RedirectInput), reply: Ids, fails: ['REDIRECT_LIMIT', 'MULTIPLE', 'DUPLICATED'] }),
  update:  put('site/:siteId/module/urlRedirect/:moduleId/redirects', { can: 'module:write', body: batch(RedirectUpdate), reply: z.object({ data: z.array(Redirect) }), fails: ['MULTIPLE', 'DUPLICATED'] }),
  enable:  put('site/:siteId/module/urlRedirect/:moduleId/redirects/enable', { can: 'module:write', body: Enabling, reply: Ids, fails: ['MULTIPLE'] }),
  remove:  del('site/:siteId/module/urlRedirect/:moduleId/redirects', { can: 'module:write', body: Ids, reply: Ids }),
  replace: post('site/:siteId/module/urlRedirect/:moduleId/redirects/replace', { can: 'module:write', body: ReplaceInput, reply: Replaced, fails: ['MULTIPLE'] }),
});

const rewriteRules = z.object({ data: ProxyRewriteSettings.shape.rules });
export const proxyRewrites = onSites('proxyRewrites', {
  list:     get('site/:siteId/module/proxyRewrites', { can: 'module:read', query: Page, reply: paged(ProxyRewrite) }),
  create:   post('site/:siteId/module/proxyRewrites', { can: 'module:write', body: z.object({ modules: many(ProxyRewriteInput.safeExtend(onlyAtCreation)) }), reply: z.object({ data: z.array(ProxyRewrite) }), fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update:   put('site/:siteId/module/proxyRewrite', { can: 'module:write', body: z.object({ modules: many(ProxyRewriteUpdate) }), reply: z.object({ data: z.array(ProxyRewrite) }), fails: ['DUPLICATED'] }),
  remove:   del('site/:siteId/module/proxyRewrites', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
  rules:    get('site/:siteId/module/proxyRewrite/:moduleId/rules', { can: 'module:read', reply: rewriteRules }),
  setRules: post('site/:siteId/module/proxyRewrite/:moduleId/rules', { can: 'module:write', body: RewriteItems, reply: rewriteRules }),
});

const auths = z.object({ data: TokenAuthSettings.shape.auths });
export const tokenAuths = onSites('tokenAuths', {
  list:     get('site/:siteId/module/tokenAuths', { can: 'module:read', query: Page, reply: paged(TokenAuth) }),
  create:   post('site/:siteId/module/tokenAuths', { can: 'module:write', body: z.object({ modules: many(TokenAuthInput.safeExtend(onlyAtCreation)) }), reply: z.object({ data: z.array(TokenAuth) }), fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  update:   put('site/:siteId/module/tokenAuth', { can: 'module:write', body: z.object({ modules: many(TokenAuthUpdate) }), reply: z.object({ data: z.array(TokenAuth) }), fails: ['DUPLICATED', 'LIMIT_REACHED'] }),
  remove:   del('site/:siteId/module/tokenAuths', { can: 'module:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
  auths:    get('site/:siteId/module/tokenAuth/:moduleId/auths', { can: 'module:read', reply: auths }),
  setAuths: post('site/:siteId/module/tokenAuth/:moduleId/auths', { can: 'module:write', body: TokenAuthItems, reply: auths, fails: ['LIMIT_REACHED'] }),
  // Creates tokens with keys that are never shown.
  sign:     post('site/:siteId/module/tokenAuth/:moduleId/sign', { can: 'module:write', body: SignInput, reply: Signed }),
  judge:    post('site/:siteId/module/tokenAuth/:moduleId/judge', { can: 'module:read', body: TokenCheckInput, reply: TokenCheckResult }),
});
