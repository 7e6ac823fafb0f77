// All endpoint groups: mounted by the server, described by OpenAPI, checked by contract tests.
import { accounts, clients, clientZones, siteUsers } from './accounts/accounts.endpoints.ts';
import { attention } from './attention/attention.endpoints.ts';
import { audit } from './audit/audit.endpoints.ts';
import { announcements, announcementSetting } from './announcements/announcements.endpoints.ts';
import {
  apiTokens,
  login2fa,
  mailbox,
  mailedTokens,
  oidc,
  oidcSetting,
  ownSessions,
  passkeys,
  proxy,
  session,
} from './auth/auth.endpoints.ts';
import { blockIPs } from './block-ips/block-ips.endpoints.ts';
import { branding, shownBranding } from './branding/branding.endpoints.ts';
import { alerts } from './alerts/alerts.endpoints.ts';
import { cacheRules, cacheSetting, currentCache } from './cache/cache.endpoints.ts';
import { charts } from './charts/charts.endpoints.ts';
import { autoCertificates, certificates } from './certificates/certificates.endpoints.ts';
import { compression } from './compression/compression.endpoints.ts';
import { copies } from './copies/copies.endpoints.ts';
import { clientDomains, domains, domainUpstreams } from './domains/domains.endpoints.ts';
import { dbBackup } from './db-backup/db-backup.endpoints.ts';
import { defaultErrorPages } from './default-error-pages/default-error-pages.endpoints.ts';
import { cnames, dnsSetting } from './dns-setting/dns-setting.endpoints.ts';
import { drafts } from './drafts/drafts.endpoints.ts';
import { emailSetting } from './email-setting/email-setting.endpoints.ts';
import { nameProofSetting } from './name-proof-setting/name-proof-setting.endpoints.ts';
import { clientHealth } from './client-health/client-health.endpoints.ts';
import { predefinedSetting } from './predefined-setting/predefined-setting.endpoints.ts';
import { systemSetting } from './system-setting/system-setting.endpoints.ts';
import type { Group } from './endpoint.ts';
import { groups as nodeGroups } from './groups/groups.endpoints.ts';
import { licenseOffers, licenses, operatorLicenses } from './licenses/licenses.endpoints.ts';
import { installationLicense, offlineLicenses } from './licenses/offline-licenses.endpoints.ts';
import { logDestinations } from './log-destinations/log-destinations.endpoints.ts';
import { logExports } from './log-exports/log-exports.endpoints.ts';
import { logs } from './logs/logs.endpoints.ts';
import { monitorGroups, monitorJoin, monitorNodes } from './monitors/monitors.endpoints.ts';
import { aclRules, acls } from './acl/acl.endpoints.ts';
import { luaAcls } from './lua-acl/lua-acl.endpoints.ts';
import { wafs } from './waf/waf.endpoints.ts';
import { antiHeaders, antiReferers } from './hotlink/hotlink.endpoints.ts';
import { ipset } from './ipset/ipset.endpoints.ts';
import { zoneListSources } from './list-sources/list-sources.endpoints.ts';
import { jobs } from './jobs/jobs.endpoints.ts';
import {
  cors,
  customHeaders,
  domainModules,
  proxyRewrites,
  tokenAuths,
  redirects,
  urlRedirects,
} from './modules/modules.endpoints.ts';
import { alertFrequency, notifySetting } from './notify-setting/notify-setting.endpoints.ts';
import { webhooks } from './webhooks/webhooks.endpoints.ts';
import { nodeJobs } from './node-jobs/node-jobs.endpoints.ts';
import { nodeSetup } from './node-jobs/node-setup.endpoints.ts';
import { nodeJoin, nodes } from './nodes/nodes.endpoints.ts';
import { overview } from './overview/overview.endpoints.ts';
import { palette } from './palette/palette.endpoints.ts';
import { ports, portUpstreams, sitePorts } from './ports/ports.endpoints.ts';
import { preheat } from './preheat/preheat.endpoints.ts';
import { preheatCaches } from './preheat-caches/preheat-caches.endpoints.ts';
import { ownProducts, products } from './products/products.endpoints.ts';
import { purge, purgeSites } from './purge/purge.endpoints.ts';
import { nodeReleases } from './releases/releases.endpoints.ts';
import { roles } from './roles/roles.endpoints.ts';
import { savedSearches } from './saved-searches/saved-searches.endpoints.ts';
import { siteRuleEndpoints } from './site-rules.ts';
import { siteDns } from './site-dns/site-dns.endpoints.ts';
import { siteSettings } from './site-settings/site-settings.endpoints.ts';
import { clientSites, ownSites, sites } from './sites/sites.endpoints.ts';
import { rollouts, upgrades } from './rollouts/rollouts.endpoints.ts';
import { simulate } from './simulate/simulate.endpoints.ts';
import { nodeStatistics, statistics } from './statistics/statistics.endpoints.ts';
import { system } from './system/system.endpoints.ts';
import { ownTrafficPackages, ownTrafficUsage, trafficPackages, trafficUsage } from './traffic/traffic.endpoints.ts';
import { versions } from './versions/versions.endpoints.ts';
import { zoneKeys } from './zone-keys/zone-keys.endpoints.ts';
import { zoneFirewall } from './zone-firewall/zone-firewall.endpoints.ts';
import { nginxDefaults, zoneSettings } from './zone-settings/zone-settings.endpoints.ts';
import { virtualNodes, virtualRecords } from './virtual-nodes/virtual-nodes.endpoints.ts';
import { zonePorts, zones } from './zones/zones.endpoints.ts';

export const groups: readonly Group[] = [
  session,
  mailedTokens,
  ownSessions,
  proxy,
  apiTokens,
  login2fa,
  passkeys,
  oidc,
  oidcSetting,
  mailbox,
  accounts,
  siteUsers,
  clientZones,
  clients,
  roles,
  audit,
  branding,
  shownBranding,
  announcementSetting,
  announcements,
  emailSetting,
  alerts,
  notifySetting,
  alertFrequency,
  webhooks,
  nameProofSetting,
  defaultErrorPages,
  systemSetting,
  dbBackup,
  predefinedSetting,
  clientHealth,
  dnsSetting,
  cnames,
  charts,
  statistics,
  nodeStatistics,
  logs,
  logExports,
  logDestinations,
  savedSearches,
  zones,
  zonePorts,
  zoneSettings,
  zoneFirewall,
  zoneListSources,
  zoneKeys,
  ipset,
  blockIPs,
  preheatCaches,
  nginxDefaults,
  nodeGroups,
  virtualNodes,
  virtualRecords,
  monitorNodes,
  monitorGroups,
  monitorJoin,
  licenses,
  operatorLicenses,
  licenseOffers,
  offlineLicenses,
  installationLicense,
  products,
  ownProducts,
  trafficPackages,
  ownTrafficPackages,
  trafficUsage,
  ownTrafficUsage,
  nodes,
  nodeJobs,
  rollouts,
  upgrades,
  nodeSetup,
  nodeReleases,
  nodeJoin,
  clientSites,
  ownSites,
  sites,
  siteSettings,
  domains,
  domainUpstreams,
  clientDomains,
  ports,
  portUpstreams,
  sitePorts,
  certificates,
  autoCertificates,
  siteDns,
  cacheRules,
  cacheSetting,
  currentCache,
  compression,
  antiReferers,
  antiHeaders,
  ...siteRuleEndpoints,
  purge,
  purgeSites,
  preheat,
  domainModules,
  copies,
  customHeaders,
  cors,
  urlRedirects,
  redirects,
  proxyRewrites,
  tokenAuths,
  acls,
  aclRules,
  luaAcls,
  wafs,
  versions,
  drafts,
  simulate,
  jobs,
  palette,
  attention,
  overview,
  system,
];
