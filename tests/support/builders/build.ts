// Builders of test data. Each fills in the fields that the caller leaves out.
import { randomBytes, randomUUIDv7, X509Certificate } from 'node:crypto';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { contexts, newZoneKey } from '@edgeloom/api/core/secrets.ts';
import { sealCredentials } from '@edgeloom/api/dns/credentials.ts';
import type {
  Account,
  Domain,
  EdgeNode,
  Module,
  PortRule,
  Prisma,
  Product,
  Site,
  Zone,
} from '@edgeloom/api/generated/client.ts';
import { SiteAntiCCInput } from '@edgeloom/contract/site-anti-cc/site-anti-cc.ts';
import { TokenAuthItem } from '@edgeloom/contract/modules/token-auths.ts';
import { isEverySites } from '@edgeloom/contract/ports/ports.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import type { SignedInAccount } from './api-clients.ts';

let ports = 30_000;
const nextPort = () => (ports += 1);

export const unique = (prefix: string) => `${prefix}-${randomBytes(5).toString('hex')}`;

/** The fields of all kinds of request limits. */
const limit = {
  urlRegex: '',
  type: 1,
  header: '',
  status: 929,
  monitor: false,
  priority: 100,
  enabled: true,
};

interface AccountOptions {
  /** Permissions of a sub-account. A root account has all of them. */
  permissions?: Permission[];
  language?: string;
}
export interface Tenant {
  clientId: string;
  /** The operator's root account. */
  client: SignedInAccount;
}
export interface BuiltZone extends Zone, Tenant {}
export interface BuiltProduct extends Product, Tenant {
  zone: BuiltZone;
}
export interface BuiltSite extends Site, Tenant {
  zone: BuiltZone;
  product: BuiltProduct;
  /** The customer's root account. */
  owner: SignedInAccount;
  params: { siteId: string };
}
export interface BuiltDomain extends Domain {
  site: BuiltSite;
  params: { siteId: string; domainId: string };
}

export interface BuiltForward extends PortRule {
  params: { siteId: string; portId: string };
}

export type Build = ReturnType<typeof builder>;

/** Default settings of each kind of module. */
const moduleSettings = {
  customHeader: { headers: [{ direction: 'response', action: 'set', name: 'X-Frame-Options', value: 'DENY' }] },
  cors: {
    allowOrigins: ['https://app.example.com'],
    allowMethods: ['GET'],
    allowHeaders: [],
    exposeHeaders: [],
    maxAge: 600,
    allowCredentials: false,
  },
  urlRedirect: {},
  proxyRewrite: { rules: [] },
  acl: { rules: [] },
  luaAcl: { script: 'return deny()', limitMode: 'deny', monitor: false },
  waf: {
    mode: 'block',
    paranoia: 1,
    disabledCategories: [],
    disabledRules: [],
    exceptions: [],
    bodyKiB: 128,
    largeBodies: 'start',
  },
};

export function builder({ db, secrets }: Installation, signIn: (account: Account) => Promise<SignedInAccount>) {
  const account = async (data: Omit<Prisma.AccountUncheckedCreateInput, 'email' | 'name'>) => {
    const email = `${unique(data.kind)}@example.com`;
    return signIn(await db.account.create({ data: { ...data, email, name: email, login2faType: 2 } }));
  };

  const role = (owner: { id: string }, permissions: Permission[]) =>
    db.role.create({ data: { ownerId: owner.id, name: unique('role'), permissions } });

  const build = {
    admin: () => account({ kind: 'admin', isRoot: true }),

    async subAdmin(admin: SignedInAccount, { permissions = [] }: AccountOptions = {}) {
      const { id: roleId } = await role(admin, permissions);
      return account({ kind: 'admin', parentId: admin.id, roleId });
    },

    async client(): Promise<Tenant> {
      const { id: clientId } = await db.client.create({ data: { name: unique('client') } });
      return { clientId, client: await account({ kind: 'client', isRoot: true, clientId }) };
    },
    /** A customer of the operator. */
    async user({ clientId }: Pick<Tenant, 'clientId'>) {
      const operator = await db.account.findFirstOrThrow({ where: { clientId, kind: 'client', isRoot: true } });
      return account({ kind: 'user', isRoot: true, clientId, parentId: operator.id });
    },

    /** A sub-account with these zones and permissions. */
    async subClient({ clientId, client }: Tenant, zones: { id: string }[], { permissions = [] }: AccountOptions = {}) {
      const { id: roleId } = await role(client, permissions);
      const sub = await account({ kind: 'client', clientId, parentId: client.id, roleId });
      await db.zoneAssignment.createMany({ data: zones.map(({ id }) => ({ zoneId: id, accountId: sub.id })) });
      return sub;
    },
    async subUser(owner: SignedInAccount, sites: { id: string }[], { permissions = [] }: AccountOptions = {}) {
      const { id: roleId } = await role(owner, permissions);
      const sub = await account({ kind: 'user', clientId: owner.clientId, parentId: owner.id, roleId });
      await db.siteAssignment.createMany({ data: sites.map(({ id }) => ({ siteId: id, accountId: sub.id })) });
      return sub;
    },

    async zone({
      tenant,
      ports = [80],
      tlsPorts = [443],
      name = unique('zone'),
    }: { tenant?: Tenant; ports?: number[]; tlsPorts?: number[]; name?: string } = {}): Promise<BuiltZone> {
      const owner = tenant ?? (await build.client());
      const id = randomUUIDv7();
      const zone = await db.zone.create({
        data: { id, name, clientId: owner.clientId, keySealed: newZoneKey(secrets, id) },
      });
      await db.zonePort.createMany({
        data: [
          ...ports.map((port) => ({ zoneId: id, port, tls: false })),
          ...tlsPorts.map((port) => ({ zoneId: id, port, tls: true })),
        ],
      });
      return { ...zone, client: owner.client };
    },

    async node({
      zone,
      enabled = true,
      name = unique('node'),
    }: { zone?: BuiltZone; enabled?: boolean; name?: string } = {}): Promise<EdgeNode & { zone: BuiltZone }> {
      const of = zone ?? (await build.zone());
      const row = await db.edgeNode.create({ data: { zoneId: of.id, name, ip: '192.0.2.1', enabled } });
      return { ...row, zone: of };
    },

    /** A completed rollout with one node. */
    async rollout(node: { id: string; zone: BuiltZone }, wish: Partial<Prisma.RolloutUncheckedCreateInput> = {}) {
      const at = new Date(0);
      return db.rollout.create({
        data: {
          clientId: node.zone.clientId,
          kind: 'release',
          target: { product: 'agent', version: '1.0.0' },
          title: 'agent 1.0.0',
          strategy: { type: 'allAtOnce' },
          state: 'completed',
          reason: 'because',
          createdBy: 'someone',
          endedAt: at,
          zones: { create: { zoneId: node.zone.id } },
          waves: { create: { position: 0, percent: 100, state: 'passed', startedAt: at, endedAt: at } },
          nodes: { create: { nodeId: node.id, wave: 0, state: 'updated', startedAt: at, endedAt: at } },
          lines: { create: { nodeId: node.id, event: 'complete', wave: 0, at } },
          ...wish,
        },
      });
    },
    async product({
      zone,
      ...wish
    }: { zone?: BuiltZone } & Partial<
      Pick<Product, 'name' | 'siteLimit' | 'domainLimit' | 'portLimit' | 'autoCertificateLimit'>
    > = {}): Promise<BuiltProduct> {
      const of = zone ?? (await build.zone());
      const row = await db.product.create({
        data: { name: unique('product'), clientId: of.clientId, zoneId: of.id, ...wish },
      });
      return { ...row, zone: of, client: of.client };
    },

    async site({
      product,
      owner,
      ...wish
    }: { product?: BuiltProduct; owner?: SignedInAccount } & Partial<
      Pick<Site, 'name' | 'status' | 'tags'>
    > = {}): Promise<BuiltSite> {
      const of = product ?? (await build.product());
      const user = owner ?? (await build.user(of));
      const row = await db.site.create({
        data: {
          name: unique('site'),
          clientId: of.clientId,
          productId: of.id,
          zoneId: of.zoneId,
          ownerId: user.id,
          ...wish,
        },
      });
      // Same default as in production: the zone's ports, without 80 and 443.
      const ports = await db.zonePort.findMany({ where: { zoneId: of.zoneId } });
      if (!ports.some(({ port }) => isEverySites(port)))
        await db.sitePort.createMany({ data: ports.map(({ id }) => ({ siteId: row.id, zonePortId: id })) });
      return { ...row, product: of, zone: of.zone, client: of.client, owner: user, params: { siteId: row.id } };
    },

    /** Bytes in the ledger, in the hour that begins at this time, in milliseconds since 1970. */
    trafficUsage: (site: BuiltSite, hour: number, bytes: number | bigint, ownerId: string = site.owner.id) =>
      db.trafficUsage.create({
        data: {
          siteId: site.id,
          hour: new Date(hour),
          ownerId,
          productId: site.productId,
          nodeId: randomUUIDv7(),
          kind: 'requests',
          clientId: site.clientId,
          zoneId: site.zoneId,
          bytes: BigInt(bytes),
        },
      }),

    /** A package of the site's customer and product that lasts from today on. */
    trafficPackage: (site: BuiltSite, over: Partial<Prisma.TrafficPackageUncheckedCreateInput> = {}) =>
      db.trafficPackage.create({
        data: {
          clientId: site.clientId,
          ownerId: site.owner.id,
          productId: site.productId,
          coveredProduct: over.productId === undefined ? site.productId : over.productId,
          type: 'extra',
          bytes: 1000n,
          startsAt: new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000),
          ...over,
        },
      }),

    async domain({
      site,
      enabled = true,
      name = `${unique('www')}.example.com`,
      upstreams = [{ address: '192.0.2.10', port: 80 }],
    }: {
      site?: BuiltSite;
      enabled?: boolean;
      name?: string;
      upstreams?: { address: string; port: number; enabled?: boolean; backup?: boolean; weight?: number }[];
    } = {}): Promise<BuiltDomain> {
      const of = site ?? (await build.site());
      const row = await db.domain.create({
        data: { siteId: of.id, name, enabled, enabledName: enabled ? name : null },
      });
      await db.upstream.createMany({
        data: upstreams.map((upstream) => ({ ...upstream, siteId: of.id, domainId: row.id })),
      });
      return { ...row, site: of, params: { siteId: of.id, domainId: row.id } };
    },

    /** The port defaults to an unused one. */
    async forward({
      site,
      upstreams = [{ address: '192.0.2.10', port: 22 }],
      ...wish
    }: {
      site: Pick<Site, 'id'>;
      upstreams?: { address: string; port: number; enabled?: boolean; backup?: boolean }[];
    } & Partial<Pick<PortRule, 'port' | 'protocol' | 'enabled' | 'memo' | 'method'>>): Promise<BuiltForward> {
      const row = await db.portRule.create({
        data: { siteId: site.id, port: nextPort(), protocol: 'tcp', ...wish },
      });
      await db.portUpstream.createMany({ data: upstreams.map((upstream) => ({ ...upstream, portRuleId: row.id })) });
      return { ...row, params: { siteId: site.id, portId: row.id } };
    },

    cacheRule: (site: BuiltSite, wish: Partial<Prisma.CacheRuleUncheckedCreateInput> = {}) =>
      db.cacheRule.create({
        data: { siteId: site.id, type: 'fileType', value: ['css', 'js'], cacheTime: 3600, ...wish },
      }),

    antiReferer: (
      { id: domainId, siteId }: Pick<Domain, 'id' | 'siteId'>,
      wish: Partial<Prisma.AntiRefererUncheckedCreateInput> = {},
    ) =>
      db.antiReferer.create({
        data: {
          siteId,
          domainId,
          isBlack: true,
          referers: ['**.thief.example'],
          allowEmpty: true,
          type: 'all',
          value: [],
          action: 'deny',
          priority: 100,
          enabled: true,
          ...wish,
        },
      }),

    /** Without a domain the rule holds for the whole site. */
    antiHeader: (
      { id: siteId }: Pick<Site, 'id'>,
      domain: Pick<Domain, 'id'> | null = null,
      wish: Partial<Prisma.AntiHeaderUncheckedCreateInput> = {},
    ) =>
      db.antiHeader.create({
        data: {
          siteId,
          domainId: domain?.id ?? null,
          name: 'X-Robot',
          operator: 'exists',
          value: '',
          action: 'deny',
          priority: 100,
          enabled: true,
          ...wish,
        },
      }),

    frequency: ({ id: siteId }: Pick<Site, 'id'>) =>
      db.frequency.create({ data: { siteId, ...limit, seconds: 10, times: 100 } }),
    antiCC: ({ id: siteId }: Pick<Site, 'id'>) =>
      db.siteAntiCc.create({ data: { siteId, ...SiteAntiCCInput.parse({ frequency: 100 }), endsAt: null } }),
    limitReq: ({ id: siteId }: Pick<Site, 'id'>) =>
      db.limitReq.create({ data: { siteId, ...limit, rate: 10, burst: 20, queue: false } }),
    limitConn: ({ id: siteId }: Pick<Site, 'id'>) => db.limitConn.create({ data: { siteId, ...limit, max: 10 } }),

    module: (site: Pick<Site, 'id'>, kind: keyof typeof moduleSettings) =>
      db.module.create({ data: { siteId: site.id, kind, name: unique('module'), settings: moduleSettings[kind] } }),

    redirect: ({ id, siteId }: Pick<Module, 'id' | 'siteId'>) =>
      db.redirect.create({
        data: { siteId, moduleId: id, type: 'exact', source: `/${unique('from')}`, target: '/to' },
      }),

    /** A self-signed certificate for these names. */
    async certificate(
      site: Pick<Site, 'id'>,
      names: string[],
      wish: Partial<Prisma.CertificateUncheckedCreateInput> = {},
    ) {
      const id = randomUUIDv7();
      const { cert, key } = selfSigned(names[0] ?? '');
      const { fingerprint256, validFromDate, validToDate } = new X509Certificate(cert);
      const row = await db.certificate.create({
        data: { id, siteId: site.id, name: unique('cert'), names, status: 'success', notAfter: validToDate, ...wish },
      });
      await db.certificatePair.create({
        data: {
          certificateId: id,
          keyType: 'ecdsa',
          chainPem: cert,
          keySealed: secrets.seal(key, contexts.certificateKey(id)),
          fingerprint: fingerprint256,
          issuer: 'nobody',
          notBefore: validFromDate,
          notAfter: validToDate,
        },
      });
      return row;
    },

    /** A token-auth module with one rule and one key. */
    async tokenAuth(site: Pick<Site, 'id'>, key = 'a-key-of-the-site') {
      const id = randomUUIDv7();
      const { createdAt } = await db.tokenKey.create({
        data: { id, siteId: site.id, keySealed: secrets.seal(key, contexts.tokenKey(id)) },
      });
      const entry = TokenAuthItem.parse({
        parts: [{ name: 'auth', format: '{time}-{sign}' }],
        text: '{path}{time}',
        algorithm: 'hmacSha256',
        keys: [{ id }],
      });
      const tokenEntry = randomUUIDv7();
      const keys = [{ id, createdAt: createdAt.toISOString() }];
      const settings = { auths: [{ ...entry, id: tokenEntry, keys }] };
      const data = { siteId: site.id, kind: 'tokenAuth', name: unique('module'), settings };
      return { tokenAuth: await db.module.create({ data }), tokenEntry, tokenKey: id };
    },

    /** A module with one rule, which is off. */
    async acl(site: Pick<Site, 'id'>) {
      const aclRule = randomUUIDv7();
      const condition = { field: 'path', operator: 'equal', value: '/a', join: 'and', ignoreCase: false };
      const rest = { target: null, monitor: false, limitMode: 'match', enabled: false };
      const settings = { rules: [{ id: aclRule, name: 'Rule', conditions: [condition], action: 'deny', ...rest }] };
      const data = { siteId: site.id, kind: 'acl', name: unique('module'), settings };
      return { acl: await db.module.create({ data }), aclRule };
    },

    siteDns(site: Pick<Site, 'id'>, url = 'https://provider.invalid/', domains = ['example.com']) {
      const id = randomUUIDv7();
      const account = { provider: 'powerDNS' as const, credentials: { url, serverID: 'localhost', apiKey: 'secret' } };
      const credentialsSealed = sealCredentials(secrets, 'site_dns', id, account);
      return db.siteDns.create({
        data: { id, siteId: site.id, provider: account.provider, domains, credentialsSealed },
      });
    },
  };
  return build;
}
