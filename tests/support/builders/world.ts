// One tenant with one object of each kind, and the mapping from API fields to these objects.
import { randomUUID } from 'node:crypto';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { SignedInAccount } from './api-clients.ts';
import { unique, type Build, type BuiltProduct, type Tenant } from './build.ts';

export const objectKinds = [
  'zone',
  'port',
  'node',
  'nodeJob',
  'group',
  'backupGroup',
  'virtualNode',
  'virtualCname',
  'virtualAddress',
  'monitorNode',
  'monitorGroup',
  'preheatCache',
  'block',
  'zoneListSource',
  'rollout',
  'product',
  'user',
  'subUser',
  'subClient',
  'site',
  'domain',
  'upstream',
  'forward',
  'forwardUpstream',
  'certificate',
  'autoCertificate',
  'siteDns',
  'logExport',
  'savedSearch',
  'logDestination',
  'cacheRule',
  'customHeader',
  'cors',
  'urlRedirect',
  'redirect',
  'proxyRewrite',
  'acl',
  'aclRule',
  'luaAcl',
  'waf',
  'tokenAuth',
  'tokenEntry',
  'tokenKey',
  'antiReferer',
  'antiHeader',
  'siteAntiHeader',
  'rate',
  'frequency',
  'limitReq',
  'limitConn',
  'antiCC',
  'blacklist',
  'whitelist',
  'layer4Blacklist',
  'layer4Whitelist',
  'layer4Position',
  'layer4LimitConn',
  'listSource',
  'geo',
  'userAgent',
  'errorPage',
  'purge',
  'job',
  'branding',
  'announcement',
  'trafficPackage',
  'defaultErrorPage',
  'webhook',
  'webhookDelivery',
] as const;
export type ObjectKind = (typeof objectKinds)[number];
export type Ids = Record<ObjectKind, string>;

/** Field name → object. A bare `id` or `ids` refers to the feature's own object. */
const byField: Readonly<Record<string, ObjectKind>> = {
  siteId: 'site',
  siteID: 'site',
  targetSiteID: 'site',
  sourceDomainID: 'domain',
  originCertificateID: 'certificate',
  siteIDs: 'site',
  zoneId: 'zone',
  zoneID: 'zone',
  domainId: 'domain',
  portId: 'forward',
  domainID: 'domain',
  domainIDs: 'domain',
  certId: 'certificate',
  dnsID: 'siteDns',
  destinationID: 'logDestination',
  nodeID: 'node',
  groupID: 'group',
  groupId: 'group',
  backupGroupID: 'backupGroup',
  vnodeId: 'virtualNode',
  monitorID: 'monitorNode',
  groupIDs: 'monitorGroup',
  preheatId: 'preheatCache',
  jobID: 'job',
  productID: 'product',
  productIDs: 'product',
  userID: 'user',
  userIDs: 'subUser',
  clientId: 'subClient',
  zoneIDs: 'zone',
  moduleID: 'customHeader',
  corsID: 'cors',
  moduleId: 'urlRedirect',
  authID: 'tokenEntry',
  keyID: 'tokenKey',
  webhookID: 'webhook',
};
const byFeature: Readonly<Record<string, ObjectKind>> = {
  accounts: 'subUser',
  zones: 'zone',
  zonePorts: 'port',
  groups: 'group',
  virtualNodes: 'virtualNode',
  virtualRecords: 'virtualCname',
  monitorNodes: 'monitorNode',
  monitorGroups: 'monitorGroup',
  preheatCaches: 'preheatCache',
  ipset: 'block',
  zoneListSources: 'zoneListSource',
  blockIPs: 'block',
  products: 'product',
  sites: 'site',
  clientSites: 'site',
  domains: 'domain',
  domainUpstreams: 'upstream',
  ports: 'forward',
  portUpstreams: 'forwardUpstream',
  sitePorts: 'port',
  certificates: 'certificate',
  autoCertificates: 'autoCertificate',
  siteDns: 'siteDns',
  logExports: 'logExport',
  savedSearches: 'savedSearch',
  logDestinations: 'logDestination',
  cacheRules: 'cacheRule',
  customHeaders: 'customHeader',
  cors: 'cors',
  urlRedirects: 'urlRedirect',
  redirects: 'redirect',
  proxyRewrites: 'proxyRewrite',
  tokenAuths: 'tokenAuth',
  acls: 'acl',
  aclRules: 'aclRule',
  luaAcls: 'luaAcl',
  wafs: 'waf',
  antiReferers: 'antiReferer',
  antiHeaders: 'antiHeader',
  siteAntiHeaders: 'siteAntiHeader',
  rates: 'rate',
  frequencies: 'frequency',
  limitReqs: 'limitReq',
  limitConns: 'limitConn',
  antiCCs: 'antiCC',
  blacklists: 'blacklist',
  whitelists: 'whitelist',
  layer4Blacklists: 'layer4Blacklist',
  layer4Whitelists: 'layer4Whitelist',
  layer4Positions: 'layer4Position',
  layer4LimitConns: 'layer4LimitConn',
  listSources: 'listSource',
  geos: 'geo',
  userAgents: 'userAgent',
  errorPages: 'errorPage',
  nodes: 'node',
  nodeJobs: 'node',
  rollouts: 'rollout',
  upgrades: 'node',
  purge: 'purge',
  branding: 'branding',
  announcementSetting: 'announcement',
  trafficPackages: 'trafficPackage',
  defaultErrorPages: 'defaultErrorPage',
  webhooks: 'webhook',
};

/** The object that an id at this path refers to, or null. */
export function objectKindAt({ feature, name }: Endpoint, path: readonly string[]): ObjectKind | null {
  const names = path.filter((name) => !/^\d+$/.test(name));
  const last = names.at(-1) ?? '';
  if (last === 'ids' && name === 'autoSSL') return 'domain';
  if (last === 'ids' && feature === 'webhooks' && name === 'resend') return 'webhookDelivery';
  if (last === 'ids' && feature === 'copies') return 'customHeader';
  if (last === 'jobID' && feature === 'nodeJobs') return 'nodeJob';
  if (last === 'moduleId' && feature === 'proxyRewrites') return 'proxyRewrite';
  if (last === 'moduleId' && feature === 'tokenAuths') return 'tokenAuth';
  if (last === 'moduleID' && feature === 'wafs') return 'waf';
  if (/^moduleI[dD]$/.test(last) && (feature === 'aclRules' || feature === 'acls')) return 'acl';
  if (feature === 'acls' && (names.includes('rules') || name === 'copy') && /^ids?$/.test(last)) return 'aclRule';
  if (last === 'id' && feature === 'tokenAuths' && names.includes('keys')) return 'tokenKey';
  if (last === 'id' && feature === 'tokenAuths' && (names.includes('auths') || names.includes('items')))
    return 'tokenEntry';
  if (last === 'id' && feature === 'groups' && name === 'ofProduct') return 'product';
  if (/^ids?$/.test(last) && feature === 'virtualRecords' && name.endsWith('Node')) return 'virtualAddress';
  if (last === 'accountID' && feature === 'proxy') return 'subUser';
  if (last === 'groupID' && feature === 'monitorGroups') return 'monitorGroup';
  if (last === 'nodeIDs' && feature === 'monitorGroups') return 'monitorNode';
  const thing = last === 'id' || last === 'ids' ? byFeature[feature] : byField[last];
  return thing ?? null;
}

export interface World {
  /** Objects that belong to an account are the customer's. */
  ids: Ids;
  /** The operator's. */
  clientIds: Pick<Ids, 'logExport' | 'savedSearch'>;
  client: SignedInAccount;
  user: SignedInAccount;
  tenant: Tenant;
  domainName: string;
}

/** Creates a new tenant, or adds to an existing one. */
export async function world(
  build: Build,
  { db }: Installation,
  beside: { tenant?: Tenant; owner?: SignedInAccount; product?: BuiltProduct } = {},
): Promise<World> {
  const tenant = beside.tenant ?? (await build.client());
  const product = beside.product ?? (await build.product({ zone: await build.zone({ tenant }) }));
  const site = await build.site({ product, ...(beside.owner && { owner: beside.owner }) });
  const ipset = { enabled: true, timeout: 600, max: 1000 };
  await db.zone.update({ where: { id: product.zoneId }, data: { settings: { ipset } } });
  const node = await build.node({ zone: product.zone, enabled: false });
  // Disabled, so that the test can delete the domain. Two origins, so that one can be deleted.
  const domain = await build.domain({
    site,
    enabled: false,
    upstreams: [
      { address: '192.0.2.1', port: 80 },
      { address: '192.0.2.2', port: 80 },
    ],
  });
  const [port, upstream, rule] = [
    await db.zonePort.findFirstOrThrow({ where: { zoneId: product.zoneId } }),
    await db.upstream.findFirstOrThrow({ where: { domainId: domain.id } }),
    await build.cacheRule(site),
  ];
  const nodeJob = await db.nodeJob.create({
    data: {
      nodeId: node.id,
      kind: 'install',
      state: 'failed',
      createdBy: 'someone',
      endedAt: new Date(0),
      steps: {
        create: [
          { position: 0, name: 'connect', state: 'failed', fault: 'credentials', message: 'said', output: 'output' },
        ],
      },
    },
  });
  const rollout = await build.rollout(node);
  const zoneId = product.zoneId;
  const [group, backupGroup] = [
    await db.group.create({ data: { zoneId, name: unique('group') } }),
    await db.group.create({ data: { zoneId, name: unique('group') } }),
  ];
  const virtualNode = await db.virtualNode.create({ data: { zoneId, name: unique('virtual') } });
  // Disabled, so that the test can delete the records.
  const [virtualCname, virtualAddress] = [
    await db.virtualRecord.create({
      data: { virtualNodeId: virtualNode.id, cname: 'elsewhere.example.com', disabled: true },
    }),
    await db.virtualRecord.create({ data: { virtualNodeId: virtualNode.id, ip: '192.0.2.9', disabled: true } }),
  ];
  const { clientId } = tenant;
  const monitorNode = await db.monitorNode.create({
    data: { clientId, name: unique('monitor'), ip: '192.0.2.10', enabled: false },
  });
  const monitorGroup = await db.monitorGroup.create({
    data: {
      clientId,
      name: unique('monitors'),
      members: { create: { monitorId: monitorNode.id } },
      zones: { create: { zoneId } },
    },
  });
  const preheatCache = await db.preheatCache.create({
    data: { zoneId, siteId: site.id, domainId: domain.id, url: `http://${domain.name}/`, createdBy: 'somebody' },
  });
  const until = new Date(Date.now() + 86_400_000);
  await db.blockSet.create({ data: { zoneId, revision: 1 } });
  const block = await db.block.create({
    data: { zoneId, siteId: site.id, network: '203.0.113.98', cause: 'manual', until, revision: 1 },
  });
  const antiReferer = await build.antiReferer(domain);
  const [antiHeader, siteAntiHeader] = [await build.antiHeader(site, domain), await build.antiHeader(site)];
  const forward = await build.forward({
    site,
    port: FORWARDED,
    enabled: false,
    upstreams: [
      { address: '192.0.2.1', port: 22 },
      { address: '192.0.2.2', port: 22 },
    ],
  });
  const forwardUpstream = await db.portUpstream.findFirstOrThrow({ where: { portRuleId: forward.id } });
  const rate = await db.rate.create({
    data: { siteId: site.id, type: 'all', value: [], rate: 100, after: 0, priority: 100, enabled: true },
  });
  const [frequency, limitReq] = [await build.frequency(site), await build.limitReq(site)];
  const limitConn = await build.limitConn(site);
  const antiCC = await build.antiCC(site);
  const list = {
    siteId: site.id,
    value: ['203.0.113.9'],
    urls: [],
    methods: [],
    memo: 'list',
    monitor: false,
    enabled: true,
  };
  const blacklist = await db.firewallList.create({ data: { ...list, isBlack: true } });
  const whitelist = await db.firewallList.create({ data: { ...list, isBlack: false } });
  const layer4List = { siteId: site.id, value: ['203.0.113.9'], memo: 'list', enabled: true };
  const layer4Blacklist = await db.layer4List.create({ data: { ...layer4List, isBlack: true } });
  const layer4Whitelist = await db.layer4List.create({ data: { ...layer4List, isBlack: false } });
  const layer4Position = await db.layer4Position.create({
    data: { siteId: site.id, port: RULE_PORT, blackPos: 2, whitePos: 1 },
  });
  const layer4LimitConn = await db.layer4LimitConn.create({
    data: { siteId: site.id, port: RULE_PORT, max: 20, burst: 5, delay: 0, enabled: true },
  });
  const source = {
    name: 'source',
    url: 'https://lists.example.net/block.txt',
    isBlack: true,
    monitor: false,
    intervalMinutes: 60,
    // Nothing fetches it.
    enabled: false,
  };
  const listSource = await db.listSource.create({ data: { siteId: site.id, ...source } });
  const zoneListSource = await db.listSource.create({ data: { zoneId: product.zoneId, ...source } });
  const reaction = { siteId: site.id, urlRegex: '.*', blockType: 0, monitor: false, enabled: true };
  const geo = await db.firewallGeo.create({ data: { ...reaction, isBlack: true, value: ['country-AQ'] } });
  const userAgent = await db.userAgentRule.create({ data: { ...reaction, value: ['badbot'] } });
  await db.abuseIp.create({ data: { siteId: site.id, score: 75, monitor: false, enabled: true } });
  await db.firewallAdvance.create({ data: { siteId: site.id, type: 0, rule: 'url' } });
  await db.crawlerRule.create({
    data: { siteId: site.id, category: 'seo', action: 'block', perMinute: 60, monitor: false },
  });
  const robotsGroup = { agents: ['*'], allow: [], disallow: ['/private/'], crawlDelay: null };
  await db.robotsFile.create({ data: { siteId: site.id, enabled: true, groups: [robotsGroup], sitemaps: [] } });
  const errorPage = await db.errorPage.create({
    data: { siteId: site.id, code: 502, type: 'content', value: 'text', enabled: true },
  });
  const certificate = await build.certificate(site, [domain.name]);
  const autoCertificate = await build.certificate(site, [domain.name], { type: 'automatic', keyTypes: ['ecdsa'] });
  const siteDns = await build.siteDns(site);
  const exportOf = (accountId: string) => ({
    data: {
      accountId,
      type: 'access',
      format: 'csv',
      query: { startTime: '2026-01-01T00:00:00.000Z', endTime: '2026-01-01T01:00:00.000Z' },
      status: 'success',
      expiresAt: new Date(Date.now() + 7 * 86_400_000),
    },
  });
  const searchOf = (accountId: string) => ({ data: { accountId, name: unique('search'), filter: {} } });
  const [logExport, clientExport] = [
    await db.logExport.create(exportOf(site.owner.id)),
    await db.logExport.create(exportOf(tenant.client.id)),
  ];
  const [savedSearch, clientSearch] = [
    await db.savedSearch.create(searchOf(site.owner.id)),
    await db.savedSearch.create(searchOf(tenant.client.id)),
  ];
  const logDestination = await db.logDestination.create({
    data: {
      siteId: site.id,
      name: unique('push'),
      kind: 's3',
      settings: { endpoint: 'https://s3.invalid', region: 'us-east-1', bucket: 'logs', prefix: '', accessKeyID: 'key' },
    },
  });
  const [customHeader, cors] = [await build.module(site, 'customHeader'), await build.module(site, 'cors')];
  const urlRedirect = await build.module(site, 'urlRedirect');
  const proxyRewrite = await build.module(site, 'proxyRewrite');
  const { acl, aclRule } = await build.acl(site);
  const luaAcl = await build.module(site, 'luaAcl');
  const waf = await build.module(site, 'waf');
  const { tokenAuth, tokenEntry, tokenKey } = await build.tokenAuth(site);
  const redirect = await build.redirect(urlRedirect);
  const job = await db.job.create({ data: { siteId: site.id, kind: 'purgeSite', title: 'all', createdBy: 'someone' } });
  const purge = await db.purge.create({
    data: { siteId: site.id, type: 1, urls: ['http://x.example.com/'], jobId: job.id, createdBy: 'someone' },
  });
  const [subUser, subClient] = [await build.subUser(site.owner, [site]), await build.subClient(tenant, [product.zone])];
  const branding = await db.branding.create({ data: { clientId, host: `${unique('console')}.example.com` } });
  const announcement = await db.announcement.create({
    data: { clientId, title: 'news', content: 'text', startsAt: new Date(0), position: 0 },
  });
  const trafficPackage = await build.trafficPackage(site);
  // The operator has one page per code, also for several worlds.
  const defaultErrorPage = await db.defaultErrorPage.upsert({
    where: { clientId_code: { clientId, code: 504 } },
    create: { clientId, code: 504, type: 'content', value: '<h1>later</h1>', enabled: true, edgeOnly: true },
    update: {},
  });
  const webhook = await db.alertChannel.create({
    data: {
      clientId,
      accountId: tenant.client.id,
      type: 'webhook',
      name: unique('webhook'),
      enabled: true,
      kinds: [],
      address: 'https://hooks.invalid/',
    },
  });
  const webhookDelivery = await db.alertMessage.create({
    data: {
      id: randomUUID(),
      channelId: webhook.id,
      events: [],
      eventCount: 0,
      isPending: false,
      expiresAt: new Date(0),
    },
  });
  return {
    tenant,
    client: tenant.client,
    user: site.owner,
    domainName: domain.name,
    clientIds: { logExport: clientExport.id, savedSearch: clientSearch.id },
    ids: {
      zone: product.zoneId,
      port: port.id,
      node: node.id,
      nodeJob: nodeJob.id,
      group: group.id,
      backupGroup: backupGroup.id,
      virtualNode: virtualNode.id,
      virtualCname: virtualCname.id,
      virtualAddress: virtualAddress.id,
      monitorNode: monitorNode.id,
      monitorGroup: monitorGroup.id,
      preheatCache: preheatCache.id,
      block: block.id,
      rollout: rollout.id,
      product: product.id,
      user: site.owner.id,
      subUser: subUser.id,
      subClient: subClient.id,
      site: site.id,
      domain: domain.id,
      upstream: upstream.id,
      forward: forward.id,
      forwardUpstream: forwardUpstream.id,
      certificate: certificate.id,
      autoCertificate: autoCertificate.id,
      siteDns: siteDns.id,
      logExport: logExport.id,
      savedSearch: savedSearch.id,
      logDestination: logDestination.id,
      cacheRule: rule.id,
      customHeader: customHeader.id,
      cors: cors.id,
      urlRedirect: urlRedirect.id,
      redirect: redirect.id,
      proxyRewrite: proxyRewrite.id,
      acl: acl.id,
      aclRule,
      luaAcl: luaAcl.id,
      waf: waf.id,
      tokenAuth: tokenAuth.id,
      tokenEntry,
      tokenKey,
      antiReferer: antiReferer.id,
      antiHeader: antiHeader.id,
      siteAntiHeader: siteAntiHeader.id,
      rate: rate.id,
      frequency: frequency.id,
      limitReq: limitReq.id,
      limitConn: limitConn.id,
      antiCC: antiCC.id,
      blacklist: blacklist.id,
      whitelist: whitelist.id,
      layer4Blacklist: layer4Blacklist.id,
      layer4Whitelist: layer4Whitelist.id,
      layer4Position: layer4Position.id,
      layer4LimitConn: layer4LimitConn.id,
      listSource: listSource.id,
      zoneListSource: zoneListSource.id,
      geo: geo.id,
      userAgent: userAgent.id,
      errorPage: errorPage.id,
      purge: purge.id,
      job: job.id,
      branding: branding.id,
      announcement: announcement.id,
      trafficPackage: trafficPackage.id,
      defaultErrorPage: defaultErrorPage.id,
      webhook: webhook.id,
      webhookDelivery: webhookDelivery.id,
    },
  };
}

/** All state of a world that a write could change, as text to compare. */
export async function snapshotOf({ ids }: World, { db }: Installation): Promise<string> {
  const inSite = { where: { siteId: ids.site }, orderBy: { id: 'asc' } } as const;
  const inZone = { where: { zoneId: ids.zone }, orderBy: { id: 'asc' } } as const;
  const rows = await Promise.all([
    db.zone.findUnique({ where: { id: ids.zone } }),
    db.product.findUnique({ where: { id: ids.product } }),
    db.site.findUnique({ where: { id: ids.site } }),
    db.account.findMany({
      where: { id: { in: [ids.user, ids.subUser, ids.subClient] } },
      include: { sites: true, zones: true, mailedTokens: true },
      orderBy: { id: 'asc' },
    }),
    db.zonePort.findMany(inZone),
    db.edgeNode.findMany({ ...inZone, include: { jobs: { orderBy: { id: 'asc' } } } }),
    db.rollout.findUnique({ where: { id: ids.rollout }, include: { waves: true, nodes: true, lines: true } }),
    db.outbox.findMany(inZone),
    db.group.findMany({ ...inZone, include: { members: { orderBy: { id: 'asc' } } } }),
    db.virtualNode.findMany({ ...inZone, include: { records: { orderBy: { id: 'asc' } } } }),
    db.monitorNode.findUnique({ where: { id: ids.monitorNode } }),
    db.monitorGroup.findUnique({ where: { id: ids.monitorGroup }, include: { members: true, zones: true } }),
    db.preheatCache.findMany(inZone),
    db.block.findMany(inZone),
    db.listSource.findMany({ ...inZone, include: { state: true, key: true } }),
    db.domain.findMany(inSite),
    db.upstream.findMany(inSite),
    db.sitePort.findMany({ where: { siteId: ids.site }, orderBy: { zonePortId: 'asc' } }),
    db.portRule.findMany({ ...inSite, include: { upstreams: { orderBy: { id: 'asc' } } } }),
    db.certificate.findMany({ ...inSite, include: { pairs: true, orders: true, events: true } }),
    db.siteDns.findMany(inSite),
    db.logDestination.findMany(inSite),
    db.logExport.findMany({ where: { accountId: ids.user }, orderBy: { id: 'asc' } }),
    db.savedSearch.findMany({ where: { accountId: ids.user }, orderBy: { id: 'asc' } }),
    db.cacheRule.findMany(inSite),
    db.cacheSetting.findUnique({ where: { siteId: ids.site } }),
    db.compression.findUnique({ where: { siteId: ids.site } }),
    db.redirect.findMany(inSite),
    db.tokenKey.findMany(inSite),
    db.module.findMany({ ...inSite, include: { domains: { orderBy: { domainId: 'asc' } } } }),
    db.antiReferer.findMany(inSite),
    db.antiHeader.findMany(inSite),
    db.rate.findMany(inSite),
    db.frequency.findMany(inSite),
    db.limitReq.findMany(inSite),
    db.limitConn.findMany(inSite),
    db.siteAntiCc.findMany(inSite),
    db.firewallList.findMany(inSite),
    db.layer4List.findMany(inSite),
    db.layer4Position.findMany(inSite),
    db.layer4LimitConn.findMany(inSite),
    db.listSource.findMany({ ...inSite, include: { state: true, key: true } }),
    db.firewallGeo.findMany(inSite),
    db.userAgentRule.findMany(inSite),
    db.abuseIp.findMany(inSite),
    db.firewallAdvance.findMany(inSite),
    db.crawlerRule.findMany(inSite),
    db.robotsFile.findMany(inSite),
    db.errorPage.findMany(inSite),
    db.purge.findMany(inSite),
    db.job.findMany(inSite),
    db.branding.findUnique({ where: { id: ids.branding }, include: { images: { select: { hash: true } } } }),
    db.announcement.findUnique({ where: { id: ids.announcement } }),
    db.trafficPackage.findUnique({ where: { id: ids.trafficPackage } }),
    db.defaultErrorPage.findUnique({ where: { id: ids.defaultErrorPage } }),
    db.alertChannel.findUnique({ where: { id: ids.webhook }, include: { messages: true } }),
  ]);
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** The port of the world's forward. */
const FORWARDED = 8083;
/** The port of the world's layer-4 rules. A port has one of each kind, and sample calls create theirs at FORWARDED. */
const RULE_PORT = FORWARDED + 1;

const bought = selfSigned('www.example.com');

/** Texts of a special format, by the last part of their path. */
export function textAt(endpoint: Endpoint, path: readonly string[]): unknown {
  const names = path.filter((name) => !/^\d+$/.test(name));
  const last = names.at(-1);
  // The name of a kill switch is an enum.
  if (last === 'name' && endpoint.feature !== 'zoneSettings')
    return endpoint.feature === 'domains' ? `${unique('w')}.example.com` : unique('name');
  if (last === 'names') return path.at(-1) === 'names' ? undefined : `${unique('w')}.example.com`;
  const known: Readonly<Record<string, unknown>> = {
    // A probe of an address that nobody has would wait for its timeout.
    address: endpoint.name === 'probe' ? '127.0.0.1' : '192.0.2.77',
    cname: 'another.example.com',
    ...(endpoint.feature === 'groups' && { line: 'default' }),
    ...(endpoint.feature === 'domains' && { from: '192.0.2.1', to: '192.0.2.78' }),
    ...(endpoint.feature !== 'virtualRecords' && { ip: '192.0.2.8' }),
    ...(/^(?:ipset|blockIPs|(?:black|white)lists|layer4(?:Black|White)lists)$/.test(endpoint.feature) &&
      path.at(-1) !== 'ips' && { ips: '203.0.113.99' }),
    ...(path.at(-1) !== 'geoIDs' && { geoIDs: 'country-AQ' }),
    email: 'someone@example.com',
    fromAddress: 'someone@example.com',
    vcode: '123456',
    port: /^layer4(?:Positions|LimitConns)$/.test(endpoint.feature) ? FORWARDED : 8081,
    ...(endpoint.feature === 'sitePorts' && { ports: [443] }),
    ...(endpoint.feature === 'ports' && path.at(-1) !== 'lines' && { lines: '8082 192.0.2.77:22' }),
    urls: ['http://www.example.com/a'],
    type: endpoint.feature === 'cacheRules' ? 'fileType' : undefined,
    value: endpoint.feature === 'cacheRules' ? ['css'] : undefined,
    ...(/AntiHeaders$/i.test(endpoint.feature) && { value: 'text' }),
    domainName: 'www.example.com',
    ...(endpoint.feature === 'customHeaders' && { value: 'text' }),
    ...(endpoint.feature === 'proxyRewrites' && { type: 'exact', source: '/a', target: '/b' }),
    ...(/^acl(?:s|Rules)$/.test(endpoint.feature) && {
      field: 'path',
      operator: 'equal',
      value: '/a',
      action: 'deny',
      target: null,
    }),
    ...(endpoint.feature === 'luaAcls' && { script: 'return allow()' }),
    ...(endpoint.feature === 'tokenAuths' && {
      type: 'all',
      value: path.at(-1) === 'value' ? [] : undefined,
      parts: [{ name: 'auth', format: '{time}-{sign}' }],
      text: '{path}{time}',
      algorithm: 'hmacSha256',
      key: 'a-key-of-a-sample',
      except: null,
      url: 'http://www.example.com/a',
      rand: '0',
      user: '0',
    }),
    ...(endpoint.feature === 'redirects' && {
      type: 'exact',
      source: `/${unique('a')}`,
      target: '/b',
      from: '/to',
      to: '/x',
    }),
    ...(['listSources', 'zoneListSources'].includes(endpoint.feature) && { kind: 'url', key: 'a-key-of-a-sample' }),
    ...(endpoint.feature === 'robots' &&
      /^\d+$/.test(path.at(-1) ?? '') && {
        agents: '*',
        allow: '/public/',
        disallow: '/private/',
        sitemaps: 'https://www.example.com/sitemap.xml',
      }),
    ...(endpoint.feature === 'compression' && path.at(-1) !== 'types' && { types: 'text/css' }),
    ...(endpoint.feature === 'cors' && { allowOrigins: ['https://app.example.com'] }),
    ...(endpoint.feature === 'drafts' && {
      calls: [{ method: 'PUT', path: 'setting/cache', body: { heuristics: true, staleIfError: 60 } }],
    }),
    ...(endpoint.feature === 'simulate' && {
      url: 'http://www.example.com/',
      draft: [{ method: 'PUT', path: 'setting/cache', body: { heuristics: true, staleIfError: 60 } }],
    }),
    ...(endpoint.feature === 'wafs' && { reqID: '0'.repeat(32) }),
    ...(['zoneSettings', 'nginxDefaults'].includes(endpoint.feature) && {
      content: 'tcp_nodelay on;',
      ...(/^\d+$/.test(path.at(-1) ?? '') && {
        whitelist: '192.0.2.0/24',
        blacklist: '198.51.100.0/24',
        paths: '/api/',
      }),
      ...Object.fromEntries(['http', 'stream', 'worker', 'custom'].map((part) => [part, ''])),
    }),
    machineCode: '0'.repeat(32),
    outgoingURL: 'https://console.example.com',
    ...(path.at(-1) !== 'cidrs' && { cidrs: '198.51.100.0/24' }),
    publicKey: `U${'A'.repeat(55)}`,
    token: 'x'.repeat(40),
    hostReplace: 'www.example.com',
    sni: 'www.example.com',
    scheme: 'http',
    portMap: [],
    ...(endpoint.feature === 'certificates' && { chainPem: bought.cert, keyPem: bought.key, sslName: unique('cert') }),
    ...(endpoint.feature === 'siteDns' && path.at(-1) !== 'domains' && { domains: `${unique('zone')}.example.com` }),
    host: endpoint.feature === 'branding' ? `${unique('console')}.example.com` : undefined,
    ...(endpoint.feature === 'announcementSetting' && { start: '2026-01-01T00:00:00.000Z' }),
    ...(['logs', 'logExports'].includes(endpoint.feature) && {
      startTime: '2026-01-01T00:00:00.000Z',
      endTime: '2026-01-01T01:00:00.000Z',
    }),
  };
  return last === undefined ? undefined : known[last];
}
