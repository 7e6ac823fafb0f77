// Opens every screen: no overflow, no errors, no accessibility violations. The first half is wide and light in Chinese,
// the second narrow and dark in English. The long run opens each screen and each variant of a form in both looks.
import { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { blacklists, geos, userAgents } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { layer4Blacklists } from '@edgeloom/contract/layer4-lists/layer4-lists.endpoints.ts';
import { layer4LimitConns, layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { listSources, zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { antiHeaders, antiReferers, siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import {
  cors,
  customHeaders,
  proxyRewrites,
  tokenAuths,
  redirects,
  urlRedirects,
} from '@edgeloom/contract/modules/modules.endpoints.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { virtualNodes } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { horizontalOverflow, startProduct } from '../support/services/browser.ts';
import type { Kind, Product, Screen } from '../support/services/browser.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { casesOfRun, isLongRun } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let product: Product;
let emptySite: string;
let redirectModule: string;
let bareNode: string;
let job: string;

beforeAll(async () => {
  product = await startProduct();
  const { siteID: siteId, zoneID, productID } = product.summary.demo;
  const user = await product.as('user');
  const client = await product.as('client');
  const upstreams = [
    { address: '203.0.113.24', port: 80, weight: 70 },
    { address: 'origin-b.glow.test', port: 8080, backup: true },
  ];
  const names = ['www', 'shop', 'img', 'a-host-name-that-is-rather-long-for-a-column-of-a-table'];
  await user(domains.create, {
    params: { siteId },
    body: {
      domains: names.map((name, i) => ({
        name: `${name}.glow.test`,
        enabled: i !== 2,
        tags: ['prod', 'tw'],
        upstreams,
      })),
    },
  });
  await user(cacheRules.create, {
    params: { siteId },
    body: {
      rules: [
        {
          type: 'prefix',
          value: ['/api/v2/catalog'],
          cacheTime: 60,
          query: 'listed',
          queryNames: ['lang', 'page'],
          priority: 500,
        },
        { type: 'regex', value: ['^/video/.+\\.(m3u8|ts)$'], cacheTime: 0, enabled: false, priority: 510 },
      ],
    },
  });
  const { data } = await user(domains.list, { params: { siteId } });
  const demo = { siteId, domainId: data.find(({ name }) => name === product.summary.demo.domain)?.id ?? '' };
  await user(antiReferers.create, {
    params: demo,
    body: {
      antiReferers: [
        { isBlack: false, referers: ['**.glow.test', 'partner.example'], type: 'fileType', value: ['mp4', 'webp'] },
        {
          isBlack: true,
          referers: ['**.thief.example'],
          allowEmpty: false,
          action: 'redirect',
          target: 'https://www.glow.test/no-hotlinks.webp',
          enabled: false,
        },
      ],
    },
  });
  const header = { name: 'User-Agent', operator: 'matches', value: '^(curl|wget)/' } as const;
  await user(antiHeaders.create, { params: demo, body: { antiHeaders: [{ ...header, action: 'drop' }] } });
  await user(siteAntiHeaders.create, { params: { siteId }, body: { antiHeaders: [header] } });
  await user(ports.create, {
    params: { siteId },
    body: {
      ports: [
        { port: 8022, memo: 'jump host', upstreams: [{ address: '2001:db8::1', port: 22 }] },
        {
          port: 5353,
          protocol: 'udp',
          enabled: false,
          upstreams: [
            { address: 'a-name-server-that-is-rather-long-for-a-column-of-a-table.glow.test', port: 53 },
            { address: '203.0.113.24', port: 53 },
          ],
        },
      ],
    },
  });
  await user(blacklists.create, {
    params: { siteId },
    body: { ips: ['203.0.113.7', '198.51.100.0/24', '2001:db8:ffff:ffff::/64'], memo: 'scanners of last week' },
  });
  await user(layer4Blacklists.create, { params: { siteId }, body: { ips: ['203.0.113.0/24'], memo: 'scanners' } });
  const list = { name: 'Known attackers', url: 'https://lists.example.net/attackers.txt', enabled: false };
  await user(listSources.create, { params: { siteId }, body: list });
  await user(layer4Positions.create, { params: { siteId }, body: { port: 8022, blackPos: 1, whitePos: 2 } });
  await user(layer4LimitConns.create, { params: { siteId }, body: { port: 8022, max: 20, burst: 5 } });
  await user(geos.create, { params: { siteId }, body: { geoIDs: ['country-AQ', 'continent-SA'] } });
  await user(userAgents.create, { params: { siteId }, body: { userAgentRegex: '^(?:curl|python-requests)/' } });
  await user(rates.create, {
    params: { siteId },
    body: { rates: [{ type: 'fileType', value: ['iso', 'zip'], rate: 2048, after: 512 }] },
  });
  await user(errorPages.create, {
    params: { siteId },
    body: {
      errorPages: [
        { code: 504, type: 'redirect', value: 'https://status.glow.test/' },
        { code: 502, type: 'content', value: '<h1>We are back soon</h1>', enabled: false },
      ],
    },
  });
  await user(certificates.create, {
    params: { siteId },
    body: { source: 'csr', sslName: 'shop of next year', names: ['shop.glow.test', '*.glow.test'], keyType: 'ecdsa' },
  });
  const frame = { direction: 'response' as const, action: 'set' as const, name: 'X-Frame-Options', value: 'DENY' };
  await user(customHeaders.create, { params: { siteId }, body: { modules: [{ name: 'Security', headers: [frame] }] } });
  const script = {
    name: 'App',
    allowOrigins: ['https://app.glow.test', 'https://*.glow.test'],
    allowCredentials: true,
  };
  await user(cors.create, { params: { siteId }, body: { cors: [script] } });
  const api = { type: 'prefix' as const, source: '/api', target: '/v2', host: 'backend.glow.test' };
  await user(proxyRewrites.create, { params: { siteId }, body: { modules: [{ name: 'Backend', rules: [api] }] } });
  const entry = {
    name: 'Films',
    type: 'prefix' as const,
    value: ['/films/'],
    except: { type: 'prefix' as const, value: ['/films/trailers/'] },
    parts: [{ name: 'auth_key', format: '{time}-{rand}-{user}-{sign}' }],
    text: '{path}-{time}-{rand}-{user}-{key}',
    algorithm: 'md5' as const,
    keys: [{ key: 'a-first-key' }, { key: 'a-second-key' }],
  };
  const path = { field: 'path', operator: 'startsWith' as const, value: '/admin' };
  const networks = { field: 'ip', operator: 'notIn' as const, value: ['192.0.2.0/24', '2001:db8::/32'] };
  const rule = { name: 'Office only', conditions: [path, networks], action: 'deny' as const };
  await user(acls.create, { params: { siteId }, body: { modules: [{ name: 'Staff', rules: [rule] }] } });
  const night = 'if startsWith(request.path, "/admin") then\n  return deny()\nend\n';
  await user(luaAcls.create, { params: { siteId }, body: { modules: [{ name: 'Night', script: night }] } });
  await user(wafs.create, { params: { siteId }, body: { modules: [{ name: 'Main' }] } });
  await user(tokenAuths.create, { params: { siteId }, body: { modules: [{ name: 'Paid', auths: [entry] }] } });
  const made = await user(urlRedirects.create, { params: { siteId }, body: { modules: [{ name: 'Old shop' }] } });
  redirectModule = made.data[0]?.id ?? '';
  await user(redirects.create, {
    params: { siteId, moduleId: redirectModule },
    body: {
      redirects: [
        { type: 'exact', source: '/sale', target: '/campaigns/autumn', code: 302 },
        { type: 'prefix', source: '/old', target: 'https://shop.glow.test/a/rather/long/path/for/a/column/of/a/table' },
        { type: 'regex', source: '^/p/([0-9]+)$', target: '/products/$1', enabled: false },
      ],
    },
  });
  await user(purge.urls, { params: { siteId }, body: { type: 1, urls: ['http://www.glow.test/img/hero.webp'] } });
  const ssh = { password: 'nobody asks for it' };
  const inZone = { zoneId: zoneID };
  // Nothing fetches it.
  const subscribed = { name: 'Known attackers', url: 'https://lists.example.net/attackers.txt', enabled: false };
  await client(zoneListSources.create, { params: inZone, body: subscribed });
  const [open] = (await client(zonePorts.list, { params: inZone })).data.filter(({ tls }) => !tls);
  const preheatPaths = [
    '/img/hero.webp',
    '/a/rather/long/path/for/a/column/of/a/table/that-has-others-as-well.mp4?and=a&query=too',
  ];
  await client(preheatCaches.create, {
    params: inZone,
    body: { urls: preheatPaths.map((path) => `http://${product.summary.demo.domain}:${open?.port}${path}`) },
  });
  const balancer = await client(virtualNodes.create, {
    params: inZone,
    body: { name: 'a-balancer-with-a-name-that-is-rather-long', cnames: ['lb.glow.test'] },
  });
  const backup = await client(groups.create, { params: inZone, body: { name: 'Backup' } });
  const { id: groupID } = await client(groups.create, {
    params: inZone,
    body: { name: 'Taiwan', priority: 2, backupGroupID: backup.id, lines: ['cht', 'country-JP'] },
  });
  await client(groups.place, {
    params: inZone,
    body: {
      changes: [
        { groupID, line: 'default', nodeUID: `n-${product.summary.demo.nodeID}`, weight: 100 },
        { groupID, line: 'cht', nodeUID: balancer.nodeUID, weight: 50 },
      ],
    },
  });
  await client(groups.forceBackup, { params: { ...inZone, groupId: groupID }, body: { enabled: true } });
  const bare = await client(nodes.create, { body: { name: 'khh-02', ip: '192.0.2.22', zoneID, role: 'backup', ssh } });
  bareNode = bare.id;
  job = (await client(nodeJobs.initialize, { body: { ids: [bareNode] } })).jobIDs[0] ?? '';
  emptySite = (await client(clientSites.create, { body: { name: '拾光選物', productID } })).id;
}, 400_000);
afterAll(() => product.stop());

interface Place {
  kind: Kind;
  address: string;
  /** Text that is visible once the data is loaded. */
  shows: string;
  /** Set when the heading does not change, only the tab or filter. */
  same?: true;
}

const tab = (name: string) => `main nav a[href*="tab=${name}"][aria-current]`;
const ownSite = () => `sitesManagement/sitesSetting/${product.summary.demo.siteID}/Demo`;
/** Fields of each DNS provider. */
const dnsForms = [
  { provider: 'cloudflare', name: 'Cloudflare', shows: 'apiToken' },
  { provider: 'dnspod', name: 'DNSPod', shows: 'keyID' },
  { provider: 'aliDNS', name: 'Alibaba Cloud DNS', shows: 'keyID' },
  { provider: 'route53', name: 'Amazon Route 53', shows: 'keySecret' },
  { provider: 'huaweiCloud', name: 'Huawei Cloud DNS', shows: 'region' },
  { provider: 'powerDNS', name: 'PowerDNS', shows: 'serverID' },
];

const places = (): Place[] => {
  const { zoneID, nodeID, domain } = product.summary.demo;
  const own = ownSite();
  const any = `nodeManage/sitesSetting`;
  const list = 'tbody td, main li';
  return [
    { kind: 'client', address: 'nodeManage/zonesList', shows: list },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}`, shows: list },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=nodes`, shows: tab('nodes'), same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=nginx`, shows: 'main [data-code]', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=resources`, shows: 'main input', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=preheat`, shows: list, same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=https`, shows: 'main input', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=firewall`, shows: 'main textarea', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=ipset`, shows: 'main input', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=sources`, shows: list, same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=anticc`, shows: 'main textarea', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=switches`, shows: 'main li b', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=key`, shows: 'main dl', same: true },
    { kind: 'client', address: `nodeManage/zonesList/${zoneID}?tab=versions`, shows: tab('versions'), same: true },
    { kind: 'client', address: 'nodeManage/nodesList', shows: list },
    { kind: 'client', address: 'nodeManage/nodesList?tab=waiting', shows: tab('waiting'), same: true },
    { kind: 'client', address: `nodeManage/nodesList/${nodeID}`, shows: 'dl' },
    {
      kind: 'client',
      address: `nodeManage/nodesList/${nodeID}?tab=performance`,
      shows: 'main figure[role="img"] canvas',
      same: true,
    },
    {
      kind: 'client',
      address: `nodeManage/nodesList/${nodeID}?tab=connections`,
      shows: tab('connections'),
      same: true,
    },
    { kind: 'client', address: `nodeManage/nodesList/${nodeID}?tab=cache`, shows: 'main form', same: true },
    { kind: 'client', address: `nodeManage/nodesList/${nodeID}?tab=geneva`, shows: tab('geneva'), same: true },
    { kind: 'client', address: `nodeManage/nodesList/${nodeID}?tab=logs`, shows: tab('logs'), same: true },
    { kind: 'client', address: `nodeManage/nodesList/${nodeID}?tab=commands`, shows: 'main li button', same: true },
    { kind: 'client', address: `nodeManage/nodesList/${nodeID}?tab=upgrades`, shows: 'main h2', same: true },
    { kind: 'client', address: `nodeManage/nodesList/${bareNode}/job/${job}`, shows: 'main ol li' },
    { kind: 'client', address: 'nodeManage/nodesList/new/install', shows: 'main ol li' },
    { kind: 'client', address: `nodeManage/nodesList/${bareNode}/install`, shows: 'main ol li' },
    { kind: 'client', address: 'nodeManage/resolutionTitle', shows: 'tbody button' },
    { kind: 'client', address: 'nodeManage/vNode', shows: list },
    { kind: 'client', address: 'nodeManage/rollouts', shows: 'main h2' },
    { kind: 'client', address: 'systemManagement/systemUpgrade', shows: 'main li b' },
    { kind: 'client', address: 'nodeManage/productsList', shows: list },
    { kind: 'client', address: 'nodeManage/sitesList', shows: list },
    { kind: 'client', address: 'nodeManage/domains', shows: list },
    { kind: 'client', address: 'nodeManage/autoSSLManagement', shows: 'main h2' },
    { kind: 'client', address: 'trafficPkgManagement/trafficPkgList', shows: 'main h2' },
    { kind: 'client', address: 'trafficPkgManagement/trafficReport', shows: 'main p' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=cache`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=errors`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=rates`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=hotlink`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=domains`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=ports`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=certs`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=redirects`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=headers`, shows: 'main h2' },
    { kind: 'client', address: `${any}/${emptySite}/x?view=cors`, shows: 'main h2' },
    { kind: 'client', address: 'systemManagement/nginxSetting', shows: 'main [data-code]' },
    { kind: 'client', address: 'systemManagement/systemSetting', shows: 'main form' },
    { kind: 'client', address: 'systemManagement/dnsSetting', shows: 'main h2' },
    { kind: 'client', address: 'systemManagement/dnsSetting?tab=unprocessed', shows: 'main h2', same: true },
    { kind: 'client', address: 'systemManagement/cname', shows: 'main h2' },
    { kind: 'client', address: 'DNSSetting', shows: 'main ol[aria-label] > li' },
    { kind: 'client', address: 'userManagement/userInformation', shows: 'main form' },
    { kind: 'client', address: 'userManagement/roles', shows: 'main h2' },
    { kind: 'client', address: 'userManagement/apiTokenSetting', shows: 'main h2' },
    { kind: 'client', address: 'userManagement/customizeLogo', shows: 'main h2' },
    { kind: 'client', address: 'userManagement/announcementSetting', shows: 'main h2' },
    { kind: 'client', address: 'userManagement/users', shows: list },
    { kind: 'client', address: 'userManagement/users?tab=subs', shows: tab('subs'), same: true },
    { kind: 'client', address: 'dashboard', shows: 'main' },
    { kind: 'user', address: 'sitesManagement', shows: list },
    { kind: 'user', address: 'trafficPkgManagement/trafficPkgList', shows: 'main h2' },
    { kind: 'user', address: `${own}?view=overview`, shows: 'dl' },
    { kind: 'user', address: `${own}?view=simulate`, shows: 'main form input' },
    { kind: 'user', address: `${own}?view=domains`, shows: list },
    { kind: 'user', address: `${own}?view=domains&tab=new`, shows: 'main textarea' },
    { kind: 'user', address: `${own}?view=domains&q=nothing-of-that-name`, shows: 'main h2', same: true },
    { kind: 'user', address: `${own}/${domain}`, shows: 'table input' },
    { kind: 'user', address: `${own}/${domain}?tab=https`, shows: tab('https'), same: true },
    { kind: 'user', address: `${own}/${domain}?tab=hotlink`, shows: 'main ol > li', same: true },
    { kind: 'user', address: `${own}?view=errors`, shows: list },
    { kind: 'user', address: `${own}?view=rates`, shows: 'main ol > li' },
    ...['black', 'geo', 'agents', 'sources', 'layer4Black', 'layer4Positions', 'layer4LimitConns'].map(
      (tab): Place => ({
        kind: 'user',
        address: `${own}?view=firewall&tab=${tab}`,
        shows: list,
        ...(tab !== 'black' && { same: true as const }),
      }),
    ),
    { kind: 'user', address: `${own}?view=firewall&tab=reputation`, shows: 'main form', same: true },
    { kind: 'user', address: `${own}?view=crawlers`, shows: 'main form' },
    { kind: 'user', address: `${own}?view=crawlers&tab=robots`, shows: 'main form', same: true },
    { kind: 'client', address: `${any}/${emptySite}/x?view=firewall&tab=white`, shows: 'main h2' },
    { kind: 'user', address: `${own}?view=hotlink`, shows: 'main ol > li' },
    { kind: 'user', address: `${own}?view=ports`, shows: 'tbody td, main li b' },
    { kind: 'user', address: `${own}?view=certs`, shows: list },
    { kind: 'user', address: `${own}?view=dns`, shows: 'main h2' },
    { kind: 'user', address: `${own}?view=cache`, shows: 'main ol > li' },
    { kind: 'user', address: `${own}?view=cache&tab=purge`, shows: tab('purge'), same: true },
    { kind: 'user', address: `${own}?view=cache&tab=current`, shows: tab('current'), same: true },
    { kind: 'user', address: `${own}?view=cache&tab=preheat`, shows: 'main form textarea', same: true },
    { kind: 'user', address: `${own}?view=cache&tab=settings`, shows: 'main form', same: true },
    { kind: 'user', address: `${own}?view=gzip`, shows: 'main form textarea' },
    { kind: 'user', address: `${own}?view=redirects`, shows: 'main li a' },
    { kind: 'user', address: `${own}?view=redirects&module=${redirectModule}`, shows: list },
    { kind: 'user', address: `${own}?view=rewrite`, shows: 'main li li' },
    { kind: 'user', address: `${own}?view=access`, shows: 'main li li' },
    { kind: 'user', address: `${own}?view=scripts`, shows: 'main li pre' },
    { kind: 'user', address: `${own}?view=waf`, shows: 'main li h2' },
    { kind: 'user', address: `${own}?view=tokens`, shows: 'main li li' },
    { kind: 'user', address: `${own}?view=headers`, shows: 'main li li' },
    { kind: 'user', address: `${own}?view=cors`, shows: 'main li li' },
    { kind: 'user', address: `${own}/${domain}?tab=rules`, shows: tab('rules') },
    { kind: 'user', address: `${own}/${domain}?tab=cache`, shows: 'main a[href*="view=cache"]', same: true },
    { kind: 'user', address: `${own}?view=versions`, shows: list },
    { kind: 'user', address: `${own}?view=versions&from=0&to=10`, shows: 'main ins' },
    { kind: 'user', address: `${own}?view=jobs`, shows: list },
    { kind: 'user', address: 'userManagement/userInformation', shows: 'main form' },
    { kind: 'user', address: 'userManagement/roles', shows: 'main h2' },
    { kind: 'user', address: 'userManagement/apiTokenSetting', shows: 'main h2' },
    { kind: 'client', address: 'userManagement/logOperation', shows: list },
    { kind: 'user', address: 'userManagement/logOperation', shows: list },
    { kind: 'user', address: 'userManagement/usersList', shows: list },
    { kind: 'user', address: 'changePassword', shows: 'main form' },
    { kind: 'user', address: 'security', shows: 'main h2' },
    { kind: 'user', address: 'security?tab=passkeys', shows: tab('passkeys'), same: true },
    { kind: 'user', address: 'security?tab=devices', shows: tab('devices'), same: true },
    { kind: 'user', address: 'userManagement/apiDoc', shows: 'main nav li a' },
    { kind: 'user', address: 'userManagement/apiDoc#user.domains.create', shows: 'main article', same: true },
    { kind: 'user', address: `${own}?view=no-such-view`, shows: 'main h2' },
    { kind: 'user', address: 'dashboard', shows: 'main' },
  ];
};

/** Navigates within the app, without a page load. */
async function go(page: Page, { kind, address, shows, same }: Place) {
  const heading = page.locator('main h1');
  const before = await heading.textContent();
  await page.evaluate((to) => {
    // React Router warns about history entries without an index.
    const state = { ...history.state, idx: history.state.idx + 1 };
    history.pushState(state, '', to);
    dispatchEvent(new PopStateEvent('popstate', { state }));
  }, `/${kind}/${address}`);
  // The parts of the tab before may match `shows` as well.
  const chosen = same && new URLSearchParams(address.split('?')[1]).get('tab');
  if (chosen) await page.locator(tab(chosen)).waitFor();
  await page.locator(shows).first().waitFor();
  await eventually(async () => {
    const now = await heading.textContent();
    if (same === undefined && now === before) throw new Error(`${address} still says ${before}`);
    if ((await page.locator('main [role="status"][aria-label]').count()) > 0) throw new Error(`${address} still loads`);
  });
}

/** The frame is the same on all screens of a console; `framed` includes it. */
async function faultsOf({ page, browserErrors }: Screen, framed = false): Promise<string[]> {
  const exclude = framed ? [] : ['header:not(main *)', 'nav:not(main *)'];
  const inaccessible = await accessibilityViolations(page, { exclude });
  const wide = await horizontalOverflow(page);
  return [...browserErrors(), ...(wide > 0 ? [`the page is ${wide} px wider than the window`] : []), ...inaccessible];
}

/** English has longer words, so it is tested at the narrow width. */
const looks = [
  { language: 'zh-TW', width: 1440, theme: 'light' },
  { language: 'en', width: 360, theme: 'dark' },
] as const;

/** About a hundred screens take minutes on a busy machine. */
const walk = { timeout: 1_200_000 };

describe.each(looks)('in $language at $width px, $theme', (look) => {
  test.each(['client', 'user'] as const)('every screen of the %s console is whole', walk, async (kind) => {
    const screen = await product.openAs(kind, 'dashboard', look);
    await screen.page.locator('main h1').waitFor();
    const faults: Record<string, string[]> = {};
    const all = places().filter((one) => one.kind === kind);
    const half = Math.ceil(all.length / 2);
    // Neighbours stay together: `go` compares their headings.
    const shown = isLongRun ? all : look === looks[0] ? all.slice(0, half) : all.slice(half);
    for (const [i, place] of shown.entries()) {
      await go(screen.page, place);
      const found = await faultsOf(screen, i === 0);
      if (found.length > 0) faults[place.address] = found;
    }
    await screen.page.context().close();
    expect(faults).toEqual({});
  });

  test('the installation form has no violations', walk, async () => {
    const screen = await product.openAs('client', 'nodeManage/nodesList/new/install', look);
    const { page } = screen;
    const form = page.locator('main form');
    const faults: Record<string, string[]> = {};
    // Regression: the first press was lost, because the error of the empty address moved the choice away.
    for (const by of casesOfRun(['password', 'key'], looks.length, looks.indexOf(look))) {
      await form.locator(`input[type="radio"][value="${by}"]`).locator('xpath=..').click();
      await form.locator(by === 'key' ? 'textarea' : 'input[type="password"]').waitFor();
      const found = await faultsOf(screen);
      if (found.length > 0) faults[by] = found;
    }
    await page.context().close();
    expect(faults).toEqual({});
  });

  test('the form of every DNS provider has no violations', walk, async () => {
    const screen = await product.openAs('user', `${ownSite()}?view=dns`, look);
    const { page } = screen;
    await page.locator('main').getByRole('button', { name: /DNS/ }).first().click();
    const form = page.getByRole('dialog');
    await form.locator('[name="url"]').waitFor();
    const faults: Record<string, string[]> = {};
    for (const { provider, name, shows } of casesOfRun(dnsForms, looks.length, looks.indexOf(look))) {
      await form.locator('input').first().click();
      await page.getByRole('option', { name, exact: true }).click();
      await form.locator(`[name="${shows}"]`).waitFor();
      await keepPicture(page, `dns-${provider}-${look.language}-${look.width}`);
      const found = await faultsOf(screen);
      if (found.length > 0) faults[provider] = found;
    }
    await page.context().close();
    expect(faults).toEqual({});
  });
});
