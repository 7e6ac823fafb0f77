// Pages of a site in menu order, shared by the user and client consoles.
import { cacheRules } from '@edgeloom/contract/cache/cache.calls.ts';
import { certificates } from '@edgeloom/contract/certificates/certificates.calls.ts';
import { compression } from '@edgeloom/contract/compression/compression.calls.ts';
import { crawlers } from '@edgeloom/contract/crawlers/crawlers.calls.ts';
import { domains } from '@edgeloom/contract/domains/domains.calls.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.calls.ts';
import { blacklists } from '@edgeloom/contract/firewall/firewall.calls.ts';
import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.calls.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.calls.ts';
import { acls } from '@edgeloom/contract/acl/acl.calls.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.calls.ts';
import { wafs } from '@edgeloom/contract/waf/waf.calls.ts';
import {
  cors,
  customHeaders,
  proxyRewrites,
  tokenAuths,
  urlRedirects,
} from '@edgeloom/contract/modules/modules.calls.ts';
import { logDestinations } from '@edgeloom/contract/log-destinations/log-destinations.calls.ts';
import { ports } from '@edgeloom/contract/ports/ports.calls.ts';
import { frequencies } from '@edgeloom/contract/limits/limits.calls.ts';
import { rates } from '@edgeloom/contract/rates/rates.calls.ts';
import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.calls.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.calls.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.calls.ts';
import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { versions } from '@edgeloom/contract/versions/versions.calls.ts';
import {
  IconAddressBook,
  IconArrowRampRight,
  IconArrowsExchange,
  IconCertificate,
  IconDatabase,
  IconFileAlert,
  IconFileCode,
  IconFileZip,
  IconGauge,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconLinkOff,
  IconListCheck,
  IconPlugConnected,
  IconRobot,
  IconRobotOff,
  IconRoute,
  IconShield,
  IconSend,
  IconSwitch3,
  IconWorldWww,
  IconScript,
  IconShieldBolt,
  IconShieldCheck,
} from '@tabler/icons-react';
import { lazy, type ComponentType } from 'react';
import type { SiteViewGroup } from '../components/frame/menu.ts';
import { withinChunkLimit } from '../lib/time-limit.ts';

const view = <Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) =>
  lazy(async () => ({ default: (await withinChunkLimit(load()))[name] }));

export const siteViews: readonly SiteViewGroup[] = [
  {
    views: [
      {
        view: 'overview',
        title: 'sites.overview.title',
        icon: IconLayoutDashboard,
        reads: sites.get,
        component: view(() => import('../features/sites/overview-page.tsx'), 'OverviewPage'),
      },
      {
        view: 'simulate',
        title: 'simulate.title',
        icon: IconRoute,
        reads: simulate.run,
        component: view(() => import('../features/simulate/simulate-page.tsx'), 'SimulatePage'),
      },
    ],
  },
  {
    title: 'frame.groups.delivery',
    views: [
      {
        view: 'domains',
        title: 'domains.title',
        icon: IconWorldWww,
        reads: domains.list,
        creates: { call: domains.createSimple, title: 'palette.creates.domain', form: 'new' },
        component: view(() => import('../features/domains/domains-page.tsx'), 'DomainsPage'),
      },
      {
        view: 'ports',
        title: 'ports.title',
        icon: IconPlugConnected,
        reads: ports.list,
        creates: { call: ports.create, title: 'palette.creates.forward' },
        component: view(() => import('../features/ports/ports-page.tsx'), 'PortsPage'),
      },
      {
        view: 'certs',
        title: 'certificates.title',
        icon: IconCertificate,
        reads: certificates.list,
        creates: { call: certificates.create, title: 'certificates.create' },
        component: view(() => import('../features/certificates/certificates-page.tsx'), 'CertificatesPage'),
      },
      {
        view: 'dns',
        title: 'siteDns.title',
        icon: IconAddressBook,
        reads: siteDns.list,
        creates: { call: siteDns.create, title: 'siteDns.create' },
        component: view(() => import('../features/site-dns/site-dns-page.tsx'), 'SiteDnsPage'),
      },
    ],
  },
  {
    title: 'frame.groups.performance',
    views: [
      {
        view: 'cache',
        title: 'cache.title',
        icon: IconDatabase,
        reads: cacheRules.list,
        creates: { call: cacheRules.create, title: 'palette.creates.cacheRule' },
        canSimulate: true,
        component: view(() => import('./cache-view.tsx'), 'CacheView'),
      },
      {
        view: 'gzip',
        title: 'compression.title',
        icon: IconFileZip,
        reads: compression.get,
        component: view(() => import('../features/compression/compression-page.tsx'), 'CompressionPage'),
      },
      {
        view: 'rates',
        title: 'rates.title',
        icon: IconGauge,
        reads: rates.list,
        creates: { call: rates.create, title: 'rates.add' },
        canSimulate: true,
        component: view(() => import('../features/rates/rates-page.tsx'), 'RatesPage'),
      },
    ],
  },
  {
    title: 'frame.groups.rules',
    views: [
      {
        view: 'redirects',
        title: 'urlRedirects.title',
        icon: IconArrowRampRight,
        reads: urlRedirects.list,
        creates: { call: urlRedirects.create, title: 'urlRedirects.create' },
        canSimulate: true,
        component: view(() => import('../features/modules/url-redirects-page.tsx'), 'UrlRedirectsPage'),
      },
      {
        view: 'cors',
        title: 'cors.title',
        icon: IconArrowsExchange,
        reads: cors.list,
        creates: { call: cors.create, title: 'cors.create' },
        canSimulate: true,
        component: view(() => import('../features/modules/cors-page.tsx'), 'CorsPage'),
      },
      {
        view: 'headers',
        title: 'customHeaders.title',
        icon: IconFileCode,
        reads: customHeaders.list,
        creates: { call: customHeaders.create, title: 'customHeaders.create' },
        canSimulate: true,
        component: view(() => import('../features/modules/headers-page.tsx'), 'HeadersPage'),
      },
      {
        view: 'rewrite',
        title: 'proxyRewrites.title',
        icon: IconSwitch3,
        reads: proxyRewrites.list,
        creates: { call: proxyRewrites.create, title: 'proxyRewrites.create' },
        canSimulate: true,
        component: view(() => import('../features/modules/proxy-rewrites-page.tsx'), 'ProxyRewritesPage'),
      },
      {
        view: 'errors',
        title: 'errorPages.title',
        icon: IconFileAlert,
        reads: errorPages.list,
        creates: { call: errorPages.create, title: 'errorPages.create' },
        canSimulate: true,
        component: view(() => import('../features/error-pages/error-pages-page.tsx'), 'ErrorPagesPage'),
      },
    ],
  },
  {
    title: 'frame.groups.protection',
    views: [
      {
        view: 'firewall',
        title: 'firewall.title',
        icon: IconShield,
        reads: blacklists.list,
        creates: { call: blacklists.create, title: 'palette.creates.blacklist' },
        canSimulate: true,
        component: view(() => import('../features/firewall/firewall-page.tsx'), 'FirewallPage'),
      },
      {
        view: 'crawlers',
        title: 'crawlers.title',
        icon: IconRobot,
        reads: crawlers.get,
        canSimulate: true,
        component: view(() => import('../features/crawlers/crawlers-page.tsx'), 'CrawlersPage'),
      },
      {
        view: 'hotlink',
        title: 'hotlink.title',
        icon: IconLinkOff,
        reads: siteAntiHeaders.list,
        creates: { call: siteAntiHeaders.create, title: 'palette.creates.antiHeader' },
        canSimulate: true,
        component: view(() => import('../features/hotlink/hotlink-page.tsx'), 'HotlinkPage'),
      },
      {
        view: 'access',
        title: 'acls.title',
        icon: IconShieldCheck,
        reads: acls.list,
        creates: { call: acls.create, title: 'acls.create' },
        canSimulate: true,
        component: view(() => import('../features/acl/acl-page.tsx'), 'AclPage'),
      },
      {
        view: 'scripts',
        title: 'luaAcls.title',
        icon: IconScript,
        reads: luaAcls.list,
        creates: { call: luaAcls.create, title: 'luaAcls.create' },
        canSimulate: true,
        component: view(() => import('../features/acl/scripts-page.tsx'), 'ScriptsPage'),
      },
      {
        view: 'waf',
        title: 'wafs.title',
        icon: IconShieldBolt,
        reads: wafs.list,
        creates: { call: wafs.create, title: 'wafs.create' },
        canSimulate: true,
        component: view(() => import('../features/waf/waf-page.tsx'), 'WafPage'),
      },
      {
        view: 'limits',
        title: 'limits.title',
        icon: IconGauge,
        reads: frequencies.list,
        canSimulate: true,
        component: view(() => import('../features/limits/limits-page.tsx'), 'LimitsPage'),
      },
      {
        view: 'challenges',
        title: 'siteAntiCC.title',
        icon: IconRobotOff,
        reads: antiCCs.list,
        canSimulate: true,
        component: view(() => import('../features/site-anti-cc/anti-cc-page.tsx'), 'AntiCCPage'),
      },
      {
        view: 'tokens',
        title: 'tokenAuths.title',
        icon: IconKey,
        reads: tokenAuths.list,
        creates: { call: tokenAuths.create, title: 'tokenAuths.create' },
        canSimulate: true,
        component: view(() => import('../features/modules/token-auths-page.tsx'), 'TokenAuthsPage'),
      },
    ],
  },
  {
    title: 'frame.groups.history',
    views: [
      {
        view: 'versions',
        title: 'versions.title',
        icon: IconHistory,
        reads: versions.list,
        component: view(() => import('../features/versions/versions-page.tsx'), 'VersionsPage'),
      },
      {
        view: 'jobs',
        title: 'jobs.title',
        icon: IconListCheck,
        reads: jobs.list,
        component: view(() => import('../features/purge/jobs-page.tsx'), 'JobsPage'),
      },
      {
        view: 'logPush',
        title: 'logDestinations.title',
        icon: IconSend,
        reads: logDestinations.list,
        creates: { call: logDestinations.create, title: 'logDestinations.create' },
        component: view(() => import('../features/log-destinations/log-destinations-page.tsx'), 'LogDestinationsPage'),
      },
    ],
  },
];

/** `sitesSetting/:siteId/:name/:domainName`: the page of one domain. */
export const domainPage = view(() => import('./domain-view.tsx'), 'DomainView');
