import { clientSites, ownSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { changeProduct } from './change-product.service.ts';
import { setLimitations } from './limits.ts';
import * as logSetting from './log-setting.service.ts';
import * as service from './sites.service.ts';

export const clientSitesRoutes = routes(clientSites, {
  list:   (ctx, { query }) => service.list(ctx, query),
  resources: (ctx) => service.clientResources(ctx),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  status: (ctx, { body }) => service.setStatus(ctx, body.siteIDs, body.status),
  forceBackup: (ctx, { body }) => service.forceBackup(ctx, body.siteIDs, body.enabled),
  setExpiry: (ctx, { body }) => service.setExpiry(ctx, body.siteIDs, body.expiry),
  setLimitations: (ctx, { body }) => setLimitations(ctx, body),
  setTags: (ctx, { body }) => service.setTagsOf(ctx, body.siteIDs, body.tags),
  changeProduct: (ctx, { body }) => changeProduct(ctx, body.siteIDs, body.productID),
  refreshProduct: (ctx, { body }) => service.refreshProduct(ctx, body.siteIDs),
  contents: (ctx, { body }) => service.contents(ctx, body.siteIDs),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});

export const ownSitesRoutes = routes(ownSites, {
  list:      (ctx, { query: { siteName, ...query } }) => service.list(ctx, { ...query, name: siteName }),
  resources: (ctx) => service.resources(ctx),
});

export const sitesRoutes = routes(sites, {
  meta: (ctx, { query }) => service.meta(ctx, query),
  get:  (ctx, { params }) => service.get(ctx, params.siteId),
  settingsInUse: (ctx, { params }) => service.settingsInUse(ctx, params.siteId),
  modulesInUse: (ctx, { params }) => service.modulesInUse(ctx, params.siteId),
  tagsInUse: (ctx, { query }) => service.tagsInUse(ctx, query),
  tags:      (ctx, { params }) => service.tags(ctx, params.siteId),
  logSetting: (ctx, { params }) => logSetting.get(ctx, params.siteId),
  setLogSetting: (ctx, { params, body }) => logSetting.update(ctx, params.siteId, body),
  setTags:   (ctx, { params, body }) => service.setTags(ctx, params.siteId, body.tags),
});
