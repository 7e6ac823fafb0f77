// Builds one listener: the API of its endpoint families, and their console. main.ts starts two. The admin console and
// its API have their own listener; on the public one no path with /admin/ exists.
import { randomUUIDv7 } from 'node:crypto';
import cookie from '@fastify/cookie';
import jwt from '@fastify/jwt';
import multipart from '@fastify/multipart';
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Family, Mount } from '@edgeloom/contract/family.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { NOBODY, anonymous, type Actor } from './core/actor.ts';
import type { Ctx } from './core/ctx.ts';
import { Failure, fail } from './core/fail.ts';
import type { Installation } from './core/installation.ts';
import { httpRequestSeconds } from './core/metrics.ts';
import { scoping } from './core/scope.ts';
import { addressOf } from './core/address.ts';
import { auditing } from './http/audit.ts';
import type { Identities } from './core/auth/identities.ts';
import { Sessions } from './core/auth/sessions.ts';
import { SignIn } from './core/auth/sign-in.ts';
import { ACCESS_SECONDS, apiTokens, Claims } from './core/auth/tokens.ts';
import { bind, type Routes } from './http/bind.ts';
import { drafting } from './http/draft.ts';
import {
  answerNotFoundPage,
  apiHeaders,
  leadsToAdmin,
  opensPage,
  securityHeaders,
  serveConsole,
} from './http/console.ts';
import { answerBrokenRequest, answerFailure, guardAnswers } from './http/errors.ts';
import type { Limits } from './http/limits.ts';
import {
  accountsRoutes,
  clientsRoutes,
  clientZonesRoutes,
  siteUsersRoutes,
} from './modules/accounts/accounts.routes.ts';
import { announcementSettingRoutes, announcementsRoutes } from './modules/announcements/announcements.routes.ts';
import { auditRoutes } from './modules/audit/audit.routes.ts';
import { authRoutes } from './modules/auth/auth.routes.ts';
import { serveBrandImages } from './modules/branding/brand-image-files.ts';
import { brandingRoutes, shownBrandingRoutes } from './modules/branding/branding.routes.ts';
import { brandingAt } from './modules/branding/shown-branding.ts';
import { cacheRulesRoutes, cacheSettingRoutes, currentCacheRoutes } from './modules/cache/cache.routes.ts';
import { compressionRoutes } from './modules/compression/compression.routes.ts';
import { copiesRoutes } from './modules/copies/copies.routes.ts';
import { chartsRoutes } from './modules/charts/charts.routes.ts';
import { autoCertificatesRoutes, certificatesRoutes } from './modules/certificates/certificates.routes.ts';
import { clientDomainsRoutes, domainsRoutes, domainUpstreamsRoutes } from './modules/domains/domains.routes.ts';
import { dbBackupRoutes } from './modules/db-backup/db-backup.routes.ts';
import { cnamesRoutes, dnsSettingRoutes } from './modules/dns-setting/dns-setting.routes.ts';
import { draftsRoutes } from './modules/drafts/drafts.routes.ts';
import { emailSettingRoutes } from './modules/email-setting/email-setting.routes.ts';
import { defaultErrorPagesRoutes } from './modules/default-error-pages/default-error-pages.routes.ts';
import { clientHealthRoutes } from './modules/client-health/client-health.routes.ts';
import { predefinedSettingRoutes } from './modules/predefined-setting/predefined-setting.routes.ts';
import { systemSettingRoutes } from './modules/system-setting/system-setting.routes.ts';
import { nameProofSettingRoutes } from './modules/name-proof-setting/name-proof-setting.routes.ts';
import { groupsRoutes } from './modules/groups/groups.routes.ts';
import { alertFrequencyRoutes, notifySettingRoutes } from './modules/notify-setting/notify-setting.routes.ts';
import { webhooksRoutes } from './modules/webhooks/webhooks.routes.ts';
import { alertsRoutes } from './modules/alerts/alerts.routes.ts';
import { aclRulesRoutes, aclsRoutes, luaAclsRoutes } from './modules/acl/acl.routes.ts';
import { wafsRoutes } from './modules/waf/waf.routes.ts';
import { antiHeadersRoutes, antiReferersRoutes } from './modules/hotlink/hotlink.routes.ts';
import { blockIPsRoutes } from './modules/block-ips/block-ips.routes.ts';
import { ipsetRoutes } from './modules/ipset/ipset.routes.ts';
import { zoneListSourcesRoutes } from './modules/list-sources/list-sources.routes.ts';
import { jobsRoutes } from './modules/jobs/jobs.routes.ts';
import { licenseOffersRoutes, licensesRoutes, operatorLicensesRoutes } from './modules/licenses/licenses.routes.ts';
import { installationLicenseRoutes, offlineLicensesRoutes } from './modules/licenses/offline-licenses.routes.ts';
import {
  corsRoutes,
  customHeadersRoutes,
  domainModulesRoutes,
  proxyRewritesRoutes,
  tokenAuthsRoutes,
  redirectsRoutes,
  urlRedirectsRoutes,
} from './modules/modules/modules.routes.ts';
import { logDestinationsRoutes } from './modules/log-destinations/log-destinations.routes.ts';
import { logExportsRoutes } from './modules/log-exports/log-exports.routes.ts';
import { logsRoutes } from './modules/logs/logs.routes.ts';
import { monitorGroupsRoutes, monitorJoinRoutes, monitorNodesRoutes } from './modules/monitors/monitors.routes.ts';
import { nodeJobsRoutes } from './modules/node-jobs/node-jobs.routes.ts';
import { nodeSetupRoutes } from './modules/node-jobs/node-setup.routes.ts';
import { nodeJoinRoutes, nodesRoutes } from './modules/nodes/nodes.routes.ts';
import { attentionRoutes } from './modules/attention/attention.routes.ts';
import { overviewRoutes } from './modules/overview/overview.routes.ts';
import { paletteRoutes } from './modules/palette/palette.routes.ts';
import { portsRoutes, portUpstreamsRoutes, sitePortsRoutes } from './modules/ports/ports.routes.ts';
import { ownProductsRoutes, productsRoutes } from './modules/products/products.routes.ts';
import { preheatCachesRoutes } from './modules/preheat-caches/preheat-caches.routes.ts';
import { preheatRoutes } from './modules/preheat/preheat.routes.ts';
import { purgeRoutes, purgeSitesRoutes } from './modules/purge/purge.routes.ts';
import { nodeReleasesRoutes } from './modules/releases/releases.routes.ts';
import { rolesRoutes } from './modules/roles/roles.routes.ts';
import { rolloutsRoutes, upgradesRoutes } from './modules/rollouts/rollouts.routes.ts';
import { siteDnsRoutes } from './modules/site-dns/site-dns.routes.ts';
import { siteSettingsRoutes } from './modules/site-settings/site-settings.routes.ts';
import { clientSitesRoutes, ownSitesRoutes, sitesRoutes } from './modules/sites/sites.routes.ts';
import type { Checks } from './modules/system/health.ts';
import { savedSearchesRoutes } from './modules/saved-searches/saved-searches.routes.ts';
import { simulateRoutes } from './modules/simulate/simulate.routes.ts';
import { nodeStatisticsRoutes, statisticsRoutes } from './modules/statistics/statistics.routes.ts';
import { systemRoutes } from './modules/system/system.routes.ts';
import {
  ownTrafficPackagesRoutes,
  ownTrafficUsageRoutes,
  trafficPackagesRoutes,
  trafficUsageRoutes,
} from './modules/traffic/traffic.routes.ts';
import { versionsRoutes } from './modules/versions/versions.routes.ts';
import { zoneKeysRoutes } from './modules/zone-keys/zone-keys.routes.ts';
import { zoneFirewallRoutes } from './modules/zone-firewall/zone-firewall.routes.ts';
import { nginxDefaultsRoutes, zoneSettingsRoutes } from './modules/zone-settings/zone-settings.routes.ts';
import { virtualNodesRoutes, virtualRecordsRoutes } from './modules/virtual-nodes/virtual-nodes.routes.ts';
import { zonePortsRoutes, zonesRoutes } from './modules/zones/zones.routes.ts';
import { siteRuleRoutes } from './site-rules.ts';

/** Limits of multipart forms. A single file may be as large as a request body. */
const formLimits = { files: 5, fields: 20, parts: 25, fieldSize: 10_000, headerPairs: 50 };

const TOKENS_REMEMBERED = 10_000;

export type Listener = 'public' | 'admin';
const families: Record<Listener, readonly Family[]> = { public: ['user', 'client'], admin: ['admin'] };

/** All modules of the API. A test compares them with contract/all.ts. */
const modules: readonly Routes[] = [
  accountsRoutes,
  siteUsersRoutes,
  clientZonesRoutes,
  clientsRoutes,
  rolesRoutes,
  auditRoutes,
  brandingRoutes,
  shownBrandingRoutes,
  announcementSettingRoutes,
  announcementsRoutes,
  emailSettingRoutes,
  alertsRoutes,
  notifySettingRoutes,
  alertFrequencyRoutes,
  webhooksRoutes,
  nameProofSettingRoutes,
  defaultErrorPagesRoutes,
  systemSettingRoutes,
  dbBackupRoutes,
  predefinedSettingRoutes,
  dnsSettingRoutes,
  cnamesRoutes,
  chartsRoutes,
  statisticsRoutes,
  nodeStatisticsRoutes,
  logsRoutes,
  logExportsRoutes,
  logDestinationsRoutes,
  savedSearchesRoutes,
  zonesRoutes,
  zonePortsRoutes,
  zoneSettingsRoutes,
  zoneFirewallRoutes,
  zoneListSourcesRoutes,
  zoneKeysRoutes,
  ipsetRoutes,
  blockIPsRoutes,
  preheatCachesRoutes,
  nginxDefaultsRoutes,
  groupsRoutes,
  virtualNodesRoutes,
  virtualRecordsRoutes,
  monitorNodesRoutes,
  monitorGroupsRoutes,
  monitorJoinRoutes,
  licensesRoutes,
  operatorLicensesRoutes,
  licenseOffersRoutes,
  offlineLicensesRoutes,
  installationLicenseRoutes,
  productsRoutes,
  ownProductsRoutes,
  trafficPackagesRoutes,
  ownTrafficPackagesRoutes,
  trafficUsageRoutes,
  ownTrafficUsageRoutes,
  clientSitesRoutes,
  ownSitesRoutes,
  sitesRoutes,
  siteSettingsRoutes,
  domainsRoutes,
  domainUpstreamsRoutes,
  clientDomainsRoutes,
  portsRoutes,
  portUpstreamsRoutes,
  sitePortsRoutes,
  certificatesRoutes,
  autoCertificatesRoutes,
  siteDnsRoutes,
  antiReferersRoutes,
  antiHeadersRoutes,
  ...siteRuleRoutes,
  cacheRulesRoutes,
  cacheSettingRoutes,
  currentCacheRoutes,
  compressionRoutes,
  domainModulesRoutes,
  copiesRoutes,
  customHeadersRoutes,
  corsRoutes,
  urlRedirectsRoutes,
  redirectsRoutes,
  proxyRewritesRoutes,
  tokenAuthsRoutes,
  aclsRoutes,
  aclRulesRoutes,
  luaAclsRoutes,
  wafsRoutes,
  nodesRoutes,
  nodeJobsRoutes,
  rolloutsRoutes,
  upgradesRoutes,
  nodeSetupRoutes,
  nodeReleasesRoutes,
  nodeJoinRoutes,
  purgeRoutes,
  purgeSitesRoutes,
  preheatRoutes,
  versionsRoutes,
  jobsRoutes,
  paletteRoutes,
  attentionRoutes,
  overviewRoutes,
];

export interface AppOptions {
  listener: Listener;
  identities: Identities;
  checks: Checks;
  limits: (endpoint: Endpoint) => Limits;
  log: FastifyBaseLogger;
}

export async function buildApp(installation: Installation, { listener, identities, checks, limits, log }: AppOptions) {
  const { env } = installation;
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'reqID' }),
    genReqId: () => randomUUIDv7(),
    bodyLimit: env.BODY_LIMIT,
    trustProxy: env.TRUST_PROXY.length > 0 ? env.TRUST_PROXY : false,
    requestTimeout: 60_000,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void answerFailure(error, request, reply),
    forceCloseConnections: 'idle',
  });
  const isHttps = env.PUBLIC_URL.startsWith('https:');
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(request.url.startsWith('/api/') ? apiHeaders : securityHeaders);
    if (isHttps) reply.header('strict-transport-security', 'max-age=31536000');
    done();
  });
  app.setErrorHandler(answerFailure);
  measure(app, env.LOG_REQUESTS);
  hangUpWhenClosing(app);

  await app.register(
    async (api) => {
      await mountApi(api, installation, { listener, identities, checks, limits });
    },
    { prefix: '/api/v1' },
  );

  const hasConsole = env.CONSOLE_DIR !== undefined;
  app.setNotFoundHandler((request, reply) =>
    hasConsole && opensPage(request) ? reply.redirect('/') : answerNotFoundPage(reply, hasConsole),
  );
  if (listener === 'public') {
    app.addHook('onRequest', (request, reply, done) => {
      if (!leadsToAdmin(request.url)) return done();
      if (request.url.startsWith('/api/')) return done(new Failure('NO_SUCH_CALL', {}));
      answerNotFoundPage(reply, hasConsole);
    });
  }
  serveBrandImages(app, installation.db, hasConsole);
  if (env.CONSOLE_DIR !== undefined) {
    // Without a database the page is served without branding.
    const lookAt = (host: string) => brandingAt(installation.db, host).catch(() => null);
    await serveConsole(app, env.CONSOLE_DIR, families[listener], listener === 'public' ? lookAt : null);
  }
  return app;
}

async function mountApi(
  api: FastifyInstance,
  installation: Installation,
  { listener, identities, checks, limits }: Omit<AppOptions, 'log'>,
) {
  const { env, db, pool, secrets } = installation;
  guardAnswers(api);
  api.setNotFoundHandler(() => fail('NO_SUCH_CALL'));
  await api.register(cookie);
  await api.register(multipart, { limits: formLimits });
  await api.register(jwt, {
    secret: { private: secrets.sessionKey.privatePem, public: secrets.sessionKey.publicPem },
    sign: { algorithm: 'EdDSA', expiresIn: `${ACCESS_SECONDS}s` },
    verify: { algorithms: ['EdDSA'] },
  });

  const sessions = new Sessions(installation, identities, (claims) => api.jwt.sign(claims));
  const signIn = new SignIn(installation, sessions);
  const claimsOf = claimsReader(api);
  const keys = apiTokens(secrets);
  const scoped = onceEach(scoping(db, pool));
  const isSecure = env.PUBLIC_URL.startsWith('https:');

  const identify = async (request: FastifyRequest): Promise<Actor> => {
    const token = bearerOf(request) ?? fail('INVALID_TOKEN');
    if (keys.looksLike(token))
      return keys.isOurs(token) ? identities.findByToken(token, addressOf(request)) : fail('INVALID_TOKEN');
    const claims = claimsOf(token);
    const actor = await identities.find(claims.session, addressOf(request));
    const isItself = actor.id === claims.sub && (actor.proxy?.id ?? actor.id) === claims.actor;
    return isItself ? actor : fail('INVALID_TOKEN');
  };
  let isStopping = false;
  api.addHook('preClose', (done) => {
    isStopping = true;
    done();
  });
  const context = (actor: Actor | null, mount: Mount, request: FastifyRequest, reply: FastifyReply): Ctx => ({
    actor: actor ?? anonymous,
    mount,
    db: scoped(actor ?? anonymous),
    log: request.log,
    reqID: request.id,
    now: () => new Date(),
    installation,
    caller: {
      address: addressOf(request),
      host: request.hostname.toLowerCase(),
      device: (request.headers['user-agent'] ?? '').slice(0, 256),
      bearer: bearerOf(request),
      hasLeft: () => isStopping || reply.raw.destroyed,
      isSameSite: isSameSite(request, [env.PUBLIC_URL, env.ADMIN_URL]),
      cookies: request.cookies,
      auditName: null,
      auditKind: null,
      auditInput: null,
      actionId: null,
      setCookie: (name, value, options) => {
        reply.setCookie(name, value, {
          ...options,
          sameSite: 'strict',
          secure: isSecure || request.protocol === 'https',
        });
      },
    },
  });

  const drafts = drafting(installation, modules);
  bind(
    api,
    [
      ...authRoutes(signIn, sessions),
      systemRoutes(checks),
      clientHealthRoutes(checks),
      ...modules,
      draftsRoutes(drafts),
      simulateRoutes(drafts),
    ],
    {
      identify,
      context,
      audit: auditing(installation),
      limits,
      pool,
      serves: (family) => families[listener].includes(family),
    },
  );
}

/** Reads headers that browsers set and scripts cannot change. Other programs send none of them. */
function isSameSite({ headers, host }: FastifyRequest, consoles: readonly string[]): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  // Only hosts are compared, because a proxy may terminate TLS. If the proxy changes Host, the configured origins
  // apply.
  return new URL(origin).host === host || consoles.some((address) => new URL(address).origin === origin);
}

function bearerOf({ headers }: FastifyRequest): string | null {
  const [scheme = '', token] = (headers.authorization ?? '').split(' ');
  return scheme.toLowerCase() === 'bearer' && token ? token : null;
}

/**
 * Returns the claims of a token after verifying its signature. Valid tokens are cached, since a console sends the same
 * token for 15 minutes.
 */
function claimsReader(api: FastifyInstance) {
  const good = new Map<string, Claims>();
  return (token: string): Claims => {
    const known = good.get(token);
    if (known && known.exp * 1000 > Date.now()) return known;
    try {
      const claims = Claims.parse(api.jwt.verify(token));
      if (good.size >= TOKENS_REMEMBERED) good.clear();
      good.set(token, claims);
      return claims;
    } catch (error) {
      const isExpired = error instanceof Error && 'code' in error && error.code === 'FAST_JWT_EXPIRED';
      throw new Failure(isExpired ? 'TOKEN_EXPIRED' : 'INVALID_TOKEN', {});
    }
  };
}

/**
 * Logs and measures each call. The metric uses the declared route, since paths with ids would create countless label
 * values.
 */
function measure(app: FastifyInstance, isLogged: boolean) {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const seconds = reply.elapsedTime / 1000;
    const status = `${Math.floor(reply.statusCode / 100)}xx`;
    httpRequestSeconds.observe({ method: request.method, route, status }, seconds);
    if (!isLogged) return;
    request.log.info(
      {
        method: request.method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        tookMs: Math.round(reply.elapsedTime * 10) / 10,
        address: addressOf(request),
        ...(request.ctx && request.ctx.actor.id !== NOBODY && { account: request.ctx.actor.id }),
      },
      'call',
    );
  });
}

/** Closes keep-alive connections of calls in progress at shutdown. Otherwise the process would wait for them. */
function hangUpWhenClosing(app: FastifyInstance) {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', (_, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done(null, payload);
  });
}

/**
 * Caches by account object. identities.ts returns the same object until the account changes, so its scope stays valid.
 */
function onceEach<T>(make: (actor: Actor) => T): (actor: Actor) => T {
  const made = new WeakMap<Actor, T>();
  return (actor) => {
    const known = made.get(actor) ?? make(actor);
    made.set(actor, known);
    return known;
  };
}
