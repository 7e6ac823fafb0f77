import * as z from 'zod';
import { AccountStatus } from '../auth/auth.ts';
import { Id, Tags, Text, Time } from '../common/common.ts';
import { MinTls } from '../domains/domains.ts';
import { SiteStatus } from '../edge/documents.ts';
import { ModuleKind } from '../modules/modules.ts';
import { siteRulesInUse } from '../site-rules.ts';

export { SiteStatus } from '../edge/documents.ts';

/** The first label of the site's CNAME target. `g-` is reserved for groups. */
const CnameLabel = z
  .string()
  .trim()
  .max(63)
  .toLowerCase()
  .regex(/^(?!g-)[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, { message: 'wrong format' })
  .describe('With products whose CNAME mode is custom');

export const SiteInput = z.object({
  name: Text,
  productID: Id,
  userID: Id.nullable().default(null).describe('The customer who owns it'),
  tags: Tags.default([]),
  cnameLabel: CnameLabel.optional(),
});
export const SiteUpdate = z.object({
  id: Id,
  name: Text.optional(),
  userID: Id.nullable().optional(),
  tags: Tags.optional(),
  cnameLabel: CnameLabel.optional(),
});

const OwnLimit = z.int().min(0).max(1_000_000).nullable();
/** Limits of a site that replace those of its product. */
export const OwnLimits = z.object({
  domainLimit: OwnLimit.describe('Domains. Null: as the product; 0: unlimited'),
  portLimit: OwnLimit.describe('Layer-4 forwards. Null: as the product; 0: unlimited'),
  autoCertificateLimit: OwnLimit.describe('Automatic certificates. Null: as the product; 0: unlimited'),
  maxConnections: OwnLimit.describe('Requests at the same time, at each node. Null: as the product; 0: unlimited'),
  responseMbps: OwnLimit.describe('Mbit/s of each response. Null: as the product; 0: unlimited'),
});
export type OwnLimits = z.output<typeof OwnLimits>;

/** `tooLarge`: a document exceeds 3 MB. `notCompiled`: an internal error, which is logged. */
export const PublishError = z.enum(['tooLarge', 'notCompiled']);
export type PublishError = z.output<typeof PublishError>;

export const Site = z.object({
  id: Id,
  name: Text,
  status: SiteStatus,
  tags: Tags,
  productID: Id,
  productName: Text,
  zoneID: Id,
  zoneName: Text,
  backupGroupID: Id.nullable().describe('Its product’s; null: it cannot be forced there'),
  forcedAt: Time.nullable().describe('Since when its name leads to its backup group’s'),
  publishError: PublishError.nullable().describe(
    'Why its last change is not at the nodes, which serve the one before; null: it is, or on its way',
  ),
  userID: Id.nullable(),
  userName: z.string().nullable(),
  userStatus: AccountStatus.nullable().describe('Locked or expired, it takes the site out of service'),
  domainCount: z.int(),
  domainLimit: z.int().describe('0: unlimited'),
  portCount: z.int().describe('Layer-4 forwards'),
  portLimit: z.int().describe('0: unlimited'),
  ownLimits: OwnLimits,
  expiry: Time.nullable(),
  createdAt: Time,
  updatedAt: Time,
});
/** A site for its customer: without the operator's nodes. */
export const OwnSite = Site.omit({
  zoneID: true,
  zoneName: true,
  backupGroupID: true,
  forcedAt: true,
  userID: true,
  userName: true,
  userStatus: true,
});

const Traffic = {
  traffic: z
    .int()
    .nullable()
    .describe('Bytes of the last 24 hours; null: not measured, or the account may not read statistics'),
};
export const SiteRow = Site.extend(Traffic);
export const OwnSiteRow = OwnSite.extend(Traffic);

const MonthTraffic = z
  .int()
  .nullable()
  .describe('Bytes of the last 30 days; null: not measured, or the account may not read statistics');

/** A site with its connection information. */
export const SiteInfo = OwnSite.extend({
  ports: z.array(z.object({ port: z.int(), tls: z.boolean() })),
  cname: z.string().nullable().describe('What its domains point to; null while the installation has no name for it'),
  enabledDomainCount: z.int(),
  cacheRuleCount: z.int(),
  autoCertificateCount: z.int(),
  autoCertificateLimit: z.int().describe('0: unlimited'),
  maxConnections: z.int().describe('0: unlimited'),
  responseMbps: z.int().describe('0: unlimited'),
  domainLock: z.boolean().describe('Customers neither add nor remove domains'),
  autoSSL: z.boolean().describe('False: customers order no automatic certificates'),
  minTLS: MinTls.describe("The product's oldest TLS version of domains"),
  cacheVersion: z.int(),
  traffic: MonthTraffic,
});

export const SiteStatusInput = z.object({
  siteIDs: z.array(Id).min(1).max(1000),
  status: z.enum(['normal', 'pause', 'lock']),
});
export const SiteForceInput = z.object({ siteIDs: z.array(Id).min(1).max(1000), enabled: z.boolean() });
export const SiteExpiryInput = z.object({
  siteIDs: z.array(Id).min(1).max(1000),
  expiry: Time.nullable().describe('From then on the sites are out of service; null: never'),
});
export const SiteProductInput = z.object({
  siteIDs: z.array(Id).min(1).max(1000),
  productID: Id.describe('Of the same zone'),
});
/** Omitted limits stay unchanged. */
export const LimitationsInput = OwnLimits.partial().extend({ siteIDs: z.array(Id).min(1).max(1000) });
export type LimitationsInput = z.output<typeof LimitationsInput>;
export const SiteTagsInput = z.object({ siteIDs: z.array(Id).min(1).max(1000), tags: Tags });
/** The rows that are removed with a site. A site with domains or forwards cannot be removed. */
export const SiteContents = z.object({
  id: Id,
  name: Text,
  domains: z.int(),
  forwards: z.int().describe('Layer-4 forwards'),
  certificates: z.int(),
  modules: z.int(),
  rules: z.int().describe('Entries of all rule lists, also disabled ones'),
});
export const SiteIDs = z.object({ siteIDs: z.array(Id).min(1).max(1000) });
export const ResourceInfo = z.object({
  sites: z.int(),
  domains: z.int(),
  enabledDomains: z.int(),
  domainLimit: z.int().nullable().describe('Of all sites together; null: one has no limit'),
  forwards: z.int().describe('Layer-4 ports'),
  forwardLimit: z.int().nullable().describe('Of all sites together; null: one has no limit'),
  cacheRules: z.int(),
  traffic: MonthTraffic,
});
/** The number of each that the account may read. */
const Seen = z.int().nullable().describe('Null: the account may not read them');
export const ClientResources = z.object({
  zones: Seen,
  nodes: Seen,
  installedNodes: Seen.describe('Nodes that have joined. Null: the account may not read nodes'),
  groups: Seen,
  filledGroups: Seen.describe('Groups with a node or a virtual node. Null: the account may not read groups'),
  products: Seen,
  sites: Seen,
  domains: Seen,
  firstSite: z.object({ id: Id, name: z.string() }).nullable().describe('The oldest site, while there is no domain'),
  traffic: MonthTraffic,
});
/** Settings of a site that are in use. */
export const SettingsInUse = z.object({
  ...siteRulesInUse,
  compression: z.boolean(),
  ports: z.boolean().describe('besides 80 and 443'),
});
export const ModulesInUse = z.object({ kinds: z.array(ModuleKind).describe('that some domain has a module of') });
export type SettingsInUse = z.output<typeof SettingsInUse>;
export type ModulesInUse = z.output<typeof ModulesInUse>;

export type Site = z.output<typeof Site>;
export type SiteInfo = z.output<typeof SiteInfo>;
export type SiteInput = z.output<typeof SiteInput>;
export type SiteUpdate = z.output<typeof SiteUpdate>;

const Sampling = z
  .int()
  .min(1)
  .max(1000)
  .describe('One of so many requests is stored for searches and exports; 1: each. All are counted');

/** Parts that the access log omits. Nodes apply the masks before they write a line. */
export const LogSetting = z.object({
  maskAddress: z.boolean().describe('Addresses are shortened to networks: 24 bits of IPv4, 48 of IPv6'),
  maskQuery: z.boolean().describe('URLs and referers are logged without their query'),
  sampling: Sampling,
});
/** Callers of an earlier release send no sampling. */
export const LogSettingInput = LogSetting.extend({ sampling: Sampling.default(1) });
export type LogSettingInput = z.output<typeof LogSettingInput>;
export type LogSetting = z.output<typeof LogSetting>;
