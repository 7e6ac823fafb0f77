// Maps each model's rows to their owner. scope.ts applies it, and no other file decides ownership.
import { permissionsOf } from '@edgeloom/contract/permissions.ts';
import type { Prisma } from '../generated/client.ts';
import { NOBODY, type Actor } from './actor.ts';

export type Model = Prisma.ModelName;
type Shape<M extends Model> = Prisma.TypeMap['model'][M];
type Where<M extends Model> = NonNullable<Shape<M>['operations']['findMany']['args']['where']>;
type Objects<M extends Model> = Shape<M>['payload']['objects'];
type Parent<M extends Model> = {
  [F in keyof Objects<M>]: Objects<M>[F] extends unknown[] ? never : F;
}[keyof Objects<M>];

/** A rule of the model, or the parent it belongs to. */
type Rule<M extends Model> = ((actor: Actor) => Where<M>) | Parent<M>;

/**
 * One rule, or separate ones for reading and writing, or no owner: `(append)` is written through a scope and never
 * read, `(none)` is neither.
 */
export type Owner<M extends Model> = Rule<M> | { reads: Rule<M>; writes: Rule<M> } | '(append)' | '(none)';

/** Not `{ OR: [] }`, which Prisma treats as true below an AND. */
const nobody = { id: { in: [] as string[] } };

export const sitesOf = ({ kind, isRoot, clientId, id }: Actor): Prisma.SiteWhereInput => {
  if (kind === 'client')
    return isRoot ? { clientId } : { clientId, zone: { assignments: { some: { accountId: id } } } };
  if (kind === 'user')
    return isRoot ? { clientId, ownerId: id } : { clientId, assignments: { some: { accountId: id } } };
  return nobody;
};
export const zonesOf = ({ kind, isRoot, clientId, id }: Actor): Prisma.ZoneWhereInput => {
  if (kind !== 'client') return nobody;
  return isRoot ? { clientId } : { clientId, assignments: { some: { accountId: id } } };
};
/** Subscribed lists of sites and of zones. */
const listsOf = (actor: Actor) => ({ OR: [{ site: sitesOf(actor) }, { zone: zonesOf(actor) }] });
/** Rollouts of all zones of the actor or none, since a rollout names all its nodes. */
const rolloutsOf = (actor: Actor): Prisma.RolloutWhereInput => {
  if (actor.kind !== 'client') return nobody;
  const zones = actor.isRoot ? {} : { zones: { some: {}, every: { zone: zonesOf(actor) } } };
  return { clientId: actor.clientId, ...zones };
};
const monitorsOfClient = ({ kind, clientId }: Actor) => (kind === 'client' ? { clientId } : nobody);
/** Monitor groups whose zones the actor all has, since a group decides about the nodes of each of its zones. */
const monitorGroupsOf = (actor: Actor): Prisma.MonitorGroupWhereInput => {
  if (actor.kind !== 'client' || actor.isRoot) return monitorsOfClient(actor);
  return { clientId: actor.clientId, zones: { every: { zone: zonesOf(actor) } } };
};
const products = (actor: Actor): Prisma.ProductWhereInput =>
  actor.kind === 'client' ? { clientId: actor.clientId, zone: zonesOf(actor) } : nobody;

/** Accounts of the actor's console with no more rights than the actor's, without the actor. */
const below = ({ kind, rootId, id, permissions }: Actor): Prisma.AccountWhereInput => {
  const lacking = permissionsOf(kind).filter((permission) => !permissions.has(permission));
  return {
    kind,
    isRoot: false,
    parentId: rootId,
    id: { not: id },
    OR: [{ roleId: null }, { role: { NOT: { permissions: { hasSome: lacking } } } }],
  };
};
/** Accounts that the actor manages. The installation's root admins are managed by the command line. */
export const manageable = (actor: Actor): Prisma.AccountWhereInput => {
  if (actor.kind === 'admin') return { OR: [{ kind: { not: 'admin' } }, below(actor)] };
  if (actor.kind === 'client') return { clientId: actor.clientId, OR: [{ kind: 'user' }, below(actor)] };
  return { clientId: actor.clientId, ...below(actor) };
};

// A missing model does not compile.
export const owners: { [M in Model]: Owner<M> } = {
  Client: {
    reads: ({ kind, clientId }) => (kind === 'admin' ? {} : { id: clientId }),
    writes: ({ kind }) => (kind === 'admin' ? {} : nobody),
  },
  // A customer sees its root account and its sub-accounts. An operator sees all of its customers too.
  Account: {
    reads: ({ kind, clientId, rootId }) => {
      if (kind === 'admin') return {};
      return kind === 'client' ? { clientId } : { clientId, OR: [{ id: rootId }, { parentId: rootId }] };
    },
    writes: manageable,
  },
  // A role belongs to its root account.
  Role: ({ rootId }) => ({ ownerId: rootId }),
  ApiToken: ({ id }) => ({ accountId: id }),
  Session: '(none)',
  LoginChallenge: '(none)',
  LoginFailure: '(none)',
  MailedToken: { reads: () => nobody, writes: 'account' },
  AuthenticatorSetup: '(none)',
  Authenticator: '(none)',
  RecoveryCode: '(none)',
  Passkey: '(none)',
  PasskeyChallenge: '(none)',
  OidcProvider: ({ kind, isRoot, clientId }) => (kind === 'client' && isRoot ? { clientId } : { clientId: NOBODY }),
  OidcSignIn: '(none)',
  // Customers see those of their sites, from the time when the sites were theirs. Operators' sub-accounts see those of
  // their zones, and of monitors, which have no zone. A site's alerts move with it.
  Alert: (actor) => {
    const { kind, isRoot, clientId, rootId } = actor;
    if (kind === 'user') return { clientId, ownerId: rootId, ...(isRoot ? {} : { site: sitesOf(actor) }) };
    if (kind !== 'client') return nobody;
    if (isRoot) return { clientId };
    const zone = zonesOf(actor);
    return { clientId, OR: [{ site: { zone } }, { siteId: null, zone }, { kind: 'monitorsOffline' }] };
  },
  // Channels belong to a root account. Sub-accounts neither see nor change them.
  AlertChannel: ({ kind, isRoot, id }) => ({ accountId: isRoot && kind !== 'admin' ? id : NOBODY }),
  AlertMessage: 'channel',
  AlertNotice: 'channel',
  AlertNodeLink: '(none)',
  AlertFrequency: ({ kind, clientId }) => ({ clientId: kind === 'client' ? clientId : NOBODY }),
  OutgoingMail: '(append)',
  EmailSetting: ({ kind, isRoot, clientId }) => (kind === 'client' && isRoot ? { clientId } : { clientId: NOBODY }),
  Branding: ({ kind, clientId }) => (kind === 'client' ? { clientId } : nobody),
  BrandImage: 'branding',
  // Readable by all accounts of the operator and its customers; writable by the operator's own accounts.
  Announcement: {
    reads: ({ clientId }) => ({ clientId }),
    writes: ({ kind, clientId }) => (kind === 'client' ? { clientId } : nobody),
  },
  DnsSetting: ({ kind, clientId }) => (kind === 'client' ? { clientId } : nobody),
  DnsSettingState: 'setting',
  // Customers see the CNAME targets.
  Cname: {
    reads: ({ clientId }) => ({ clientId }),
    writes: ({ kind, clientId }) => (kind === 'client' ? { clientId } : nobody),
  },
  DnsName: 'setting',
  // Written by groups and triggers for a whole operator (dns-state).
  Traffic: '(none)',
  Layer4Traffic: '(none)',
  KernelDrops: '(none)',
  KernelDropCounters: '(none)',
  // Read by plain SQL with `usage` of sql.ts.
  TrafficUsage: '(none)',
  // Written by triggers.
  SiteBilling: '(none)',
  FormerNodeZone: '(none)',
  // Written by a job.
  TrafficCheck: '(none)',
  TrafficNotice: '(none)',
  TrafficPackageMonth: '(none)',
  ProductPrice: '(none)',
  // Written by the migration.
  UsageLedgerStart: '(none)',
  TopValue: '(none)',
  TopGroup: '(none)',
  PendingTop: '(none)',
  PendingRequests: '(none)',
  AddressSketch: '(none)',
  LogPosition: '(none)',
  LogExport: ({ id }) => ({ accountId: id }),
  LogExportChunk: 'logExport',
  LogExportDay: ({ id }) => ({ accountId: id }),
  SavedSearch: ({ id }) => ({ accountId: id }),
  DnsTarget: '(none)',
  DnsPlan: '(none)',
  // Operators read theirs by license.ts.
  License: ({ kind }) => (kind === 'admin' ? {} : { clientId: NOBODY }),
  LicenseOffer: ({ kind }) => (kind === 'admin' ? {} : nobody),
  OfflineLicense: ({ kind }) => (kind === 'admin' ? {} : nobody),
  // Read and written by plain SQL (installation-license.ts).
  InstallationLicense: '(none)',
  LicenseOrder: ({ kind }) => (kind === 'admin' ? {} : nobody),
  AuditRow: '(none)',
  AuditHead: '(none)',
  AuditChange: '(none)',
  RateCount: '(none)',
  IdempotentCall: '(none)',

  Zone: zonesOf,
  ZonePort: {
    // Customers see the ports that their sites may use, and nothing else of the zone.
    reads: (actor) => ({ zone: actor.kind === 'user' ? { sites: { some: sitesOf(actor) } } : zonesOf(actor) }),
    writes: 'zone',
  },
  ZoneAssignment: 'zone',
  ZoneVersion: 'zone',
  ZoneSwitch: 'zone',
  ZoneKeyChange: 'zone',
  // Customers see and lift blocks that were found at their sites.
  Block: (actor) => (actor.kind === 'user' ? { site: sitesOf(actor) } : { zone: zonesOf(actor) }),
  // Each change of a block raises the revision of its set.
  BlockSet: (actor) => ({ zone: actor.kind === 'user' ? { sites: { some: sitesOf(actor) } } : zonesOf(actor) }),
  BlockHolder: 'node',
  NginxDefault: ({ kind, clientId }) => ({ clientId: kind === 'client' ? clientId : NOBODY }),
  EdgeNode: 'zone',
  NodeState: 'node',
  UnreadableLines: 'node',
  NodeJob: 'node',
  NodeJobStep: 'job',
  RevokedKey: '(append)',
  Group: 'zone',
  GroupMember: 'group',
  VirtualNode: 'zone',
  VirtualRecord: 'virtualNode',
  // Written by steering.
  NodeStanding: 'node',
  GroupState: 'group',
  MonitorNode: {
    reads: monitorsOfClient,
    writes: (actor) => ({ ...monitorsOfClient(actor), members: { every: { group: monitorGroupsOf(actor) } } }),
  },
  MonitorState: 'monitor',
  MonitorGroup: { reads: monitorsOfClient, writes: monitorGroupsOf },
  MonitorGroupMember: 'group',
  MonitorGroupZone: 'zone',
  // Written by the node link.
  MonitorResult: 'node',
  Rollout: rolloutsOf,
  RolloutZone: 'rollout',
  RolloutWave: 'rollout',
  RolloutNode: 'rollout',
  // A node's zone decides, whatever else the rollout contains.
  RolloutLine: {
    reads: (actor) => ({ OR: [{ node: { zone: zonesOf(actor) } }, { rollout: rolloutsOf(actor) }] }),
    writes: 'rollout',
  },

  Product: {
    reads: (actor) => (actor.kind === 'user' ? { sites: { some: sitesOf(actor) } } : products(actor)),
    writes: products,
  },
  // Accounts that may not see all sites of a customer see packages of their products, and cannot change others.
  TrafficPackage: {
    reads: (actor) => {
      const { kind, isRoot, clientId, id } = actor;
      if (kind === 'user') return { clientId: isRoot ? clientId : NOBODY, ownerId: id };
      if (kind !== 'client') return { clientId: NOBODY };
      return isRoot ? { clientId } : { clientId, OR: [{ coveredProduct: null }, { product: products(actor) }] };
    },
    writes: (actor) => {
      if (actor.kind !== 'client') return { clientId: NOBODY };
      return { clientId: actor.clientId, ...(!actor.isRoot && { product: products(actor) }) };
    },
  },
  Site: sitesOf,
  SiteAssignment: 'site',
  Domain: 'site',
  Upstream: 'site',
  SitePort: 'site',
  PortRule: 'site',
  PortUpstream: 'portRule',
  // Written by triggers, read across tenants (claimed-ports.ts).
  PortClaim: '(none)',
  // Written by triggers, read across tenants (enabled-names.ts).
  NameClaim: '(none)',
  NameProof: '(none)',
  ProofToken: '(none)',
  NameProofSetting: ({ kind, clientId }) => ({ clientId: kind === 'client' ? clientId : NOBODY }),
  // Read by plain SQL with the origins (domains.queries.ts).
  OriginState: '(none)',
  Certificate: 'site',
  CertificatePair: 'certificate',
  CertificateOrder: 'certificate',
  CertificateEvent: 'certificate',
  AcmeAccount: '(none)',
  AcmeChallenge: '(none)',
  AcmeOutage: '(none)',
  AcmePlacement: '(none)',
  SiteDns: 'site',
  LogDestination: 'site',
  LogSpoolHead: 'site',
  // Written with the lines of nodes, read by plain SQL.
  LogSpool: '(none)',
  AntiReferer: 'site',
  AntiHeader: 'site',
  Rate: 'site',
  Frequency: 'site',
  SiteAntiCc: 'site',
  LimitReq: 'site',
  LimitConn: 'site',
  FirewallList: 'site',
  FirewallGeo: 'site',
  Layer4List: 'site',
  Layer4Position: 'site',
  Layer4LimitConn: 'site',
  ListSource: listsOf,
  ListSourceKey: 'source',
  ListSourceState: 'source',
  ListSourceChunk: listsOf,
  UserAgentRule: 'site',
  AbuseIp: 'site',
  FirewallAdvance: 'site',
  CrawlerRule: 'site',
  RobotsFile: 'site',
  ErrorPage: 'site',
  // Mails to accounts contain its URL.
  SystemSetting: {
    reads: ({ kind, clientId }) => (kind === 'admin' ? {} : { clientId }),
    writes: ({ kind, clientId }) => ({ clientId: kind === 'client' ? clientId : NOBODY }),
  },
  DbBackup: ({ kind, clientId }) => ({ clientId: kind === 'client' ? clientId : NOBODY }),
  PredefinedSetting: ({ kind, clientId }) => ({ clientId: kind === 'client' ? clientId : NOBODY }),
  DefaultErrorPage: ({ kind, clientId }) => (kind === 'client' ? { clientId } : nobody),
  CacheRule: 'site',
  CacheSetting: 'site',
  Compression: 'site',
  // Written by nodes. A site's cached size belongs to the site.
  CachedNow: 'site',
  Module: 'site',
  DomainModule: 'domain',
  Redirect: 'site',
  TokenKey: 'site',
  Purge: 'site',
  PreheatCache: 'zone',
  PreheatCopy: 'preheat',
  // Written by triggers, read by plain SQL (versions.queries.ts).
  SiteVersion: '(none)',
  SiteChange: '(none)',
  Job: 'site',
  JobReceipt: 'job',

  Outbox: '(append)',
  EdgeDocument: '(none)',
};
