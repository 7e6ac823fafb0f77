import * as z from 'zod';
import { CorsSettings } from '@edgeloom/contract/modules/cors.ts';
import { cors, customHeaders, domainModules, proxyRewrites, redirects, tokenAuths, urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import type { Prisma } from '../../generated/client.ts';
import { routes } from '../../http/bind.ts';
import { customHeaders as headers } from './custom-headers.service.ts';
import * as assignments from './domain-modules.service.ts';
import { modulesOf } from './modules.service.ts';
import * as rewriting from './proxy-rewrites.service.ts';
import * as redirecting from './redirects.service.ts';
import * as tokens from './token-auths.service.ts';

export const domainModulesRoutes = routes(domainModules, {
  list:   (ctx, { params, query }) => assignments.list(ctx, params, query),
  assign: (ctx, { params, body }) => assignments.assign(ctx, params, body),
});

export const customHeadersRoutes = routes(customHeaders, {
  list:   (ctx, { params, query }) => headers.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => headers.create(ctx, params.siteId, body.modules),
  update: (ctx, { params, body }) => headers.update(ctx, params.siteId, body.modules),
  remove: (ctx, { params, body }) => headers.remove(ctx, params.siteId, body.ids),
});

const corsModules = modulesOf('cors', CorsSettings);
export const corsRoutes = routes(cors, {
  list:   (ctx, { params, query }) => corsModules.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => corsModules.create(ctx, params.siteId, body.cors),
  update: (ctx, { params, body }) => corsModules.update(ctx, params.siteId, body.cors),
  remove: (ctx, { params, body }) => corsModules.remove(ctx, params.siteId, body.ids),
});

const redirectModules = modulesOf<Prisma.InputJsonObject>('urlRedirect', z.object({}));
export const urlRedirectsRoutes = routes(urlRedirects, {
  list:   (ctx, { params, query }) => redirectModules.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => redirectModules.create(ctx, params.siteId, body.modules),
  update: (ctx, { params, body }) => redirectModules.update(ctx, params.siteId, body.modules),
  remove: (ctx, { params, body }) => redirectModules.remove(ctx, params.siteId, body.ids),
});

export const redirectsRoutes = routes(redirects, {
  list:    (ctx, { params, query }) => redirecting.list(ctx, params, query),
  create:  (ctx, { params, body }) => redirecting.create(ctx, params, body.redirects),
  update:  (ctx, { params, body }) => redirecting.update(ctx, params, body.redirects),
  enable:  (ctx, { params, body }) => redirecting.enable(ctx, params, body),
  remove:  (ctx, { params, body }) => redirecting.remove(ctx, params, body.ids),
  replace: (ctx, { params, body }) => redirecting.replace(ctx, params, body),
});

export const proxyRewritesRoutes = routes(proxyRewrites, {
  list:     (ctx, { params, query }) => rewriting.modules.list(ctx, params.siteId, query),
  create:   (ctx, { params, body }) => rewriting.modules.create(ctx, params.siteId, body.modules),
  update:   (ctx, { params, body }) => rewriting.modules.update(ctx, params.siteId, body.modules),
  remove:   (ctx, { params, body }) => rewriting.modules.remove(ctx, params.siteId, body.ids),
  rules:    (ctx, { params }) => rewriting.rules(ctx, params),
  setRules: (ctx, { params, body }) => rewriting.setRules(ctx, params, body.items),
});

export const tokenAuthsRoutes = routes(tokenAuths, {
  list:     (ctx, { params, query }) => tokens.modules.list(ctx, params.siteId, query),
  create:   (ctx, { params, body }) => tokens.modules.create(ctx, params.siteId, body.modules),
  update:   (ctx, { params, body }) => tokens.modules.update(ctx, params.siteId, body.modules),
  remove:   (ctx, { params, body }) => tokens.modules.remove(ctx, params.siteId, body.ids),
  auths:    (ctx, { params }) => tokens.auths(ctx, params),
  setAuths: (ctx, { params, body }) => tokens.setAuths(ctx, params, body.items),
  sign:     (ctx, { params, body }) => tokens.sign(ctx, params, body),
  judge:    (ctx, { params, body }) => tokens.judgeVisit(ctx, params, body),
});
