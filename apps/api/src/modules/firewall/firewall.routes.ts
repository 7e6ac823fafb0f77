import {
  blacklists,
  firewall,
  geos,
  userAgents,
  whitelists,
} from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { addressLists } from './address-lists.service.ts';
import { geoRules, userAgentRules } from './firewall-rules.service.ts';
import { readAbuseIP, readSettings, writeAbuseIP, writeAdvance } from './firewall.service.ts';
import { allRegions, isNamed } from './regions.ts';

const [black, white] = [addressLists(true), addressLists(false)];

export const firewallRoutes = routes(firewall, {
  settings:      (ctx, { params }) => readSettings(ctx, params.siteId),
  abuseIP:       (ctx, { params }) => readAbuseIP(ctx, params.siteId),
  updateAbuseIP: (ctx, { params, body }) => writeAbuseIP(ctx, params.siteId, body),
  updateAdvance: (ctx, { params, body }) => writeAdvance(ctx, params.siteId, body),
  regions:       () => Promise.resolve(allRegions()),
});

export const blacklistsRoutes = routes(blacklists, {
  list:   (ctx, { params, query }) => black.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => black.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => black.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => black.remove(ctx, params.siteId, body.ids),
});

export const whitelistsRoutes = routes(whitelists, {
  list:   (ctx, { params, query }) => white.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => white.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => white.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => white.remove(ctx, params.siteId, body.ids),
});

export const geosRoutes = routes(geos, {
  list:   (ctx, { params, query: { isBlack, names, ...page } }) =>
    geoRules.list(ctx, params.siteId, page, (rule) =>
      (isBlack === undefined || rule.isBlack === isBlack) && (names === undefined || isNamed(rule.geoIDs, names))),
  create: (ctx, { params, body }) => geoRules.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => geoRules.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => geoRules.remove(ctx, params.siteId, body.ids),
});

export const userAgentsRoutes = routes(userAgents, {
  list:   (ctx, { params, query }) => userAgentRules.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => userAgentRules.create(ctx, params.siteId, body),
  update: (ctx, { params, body }) => userAgentRules.update(ctx, params.siteId, body),
  remove: (ctx, { params, body }) => userAgentRules.remove(ctx, params.siteId, body.ids),
});
