import * as z from 'zod';
import { Id, Memo, Text, Time } from '../common/common.ts';
import { MinTls } from '../domains/domains.ts';

const NewSiteStatus = z.enum(['normal', 'pause']);

export const ProductInput = z.object({
  name: Text,
  zoneID: Id,
  groupID: Id.nullable().default(null).describe("Who answers for its sites; null: the zone's first group"),
  backupGroupID: Id.nullable().default(null).describe('Answers for a site that is forced to it'),
  memo: Memo.default(''),
  siteLimit: z.int().min(0).max(1_000_000).default(0).describe('0: unlimited'),
  domainLimit: z.int().min(0).max(1_000_000).default(0).describe('Domains of one site; 0: unlimited'),
  portLimit: z.int().min(0).max(1_000_000).default(0).describe('Layer-4 forwards of one site; 0: unlimited'),
  autoCertificateLimit: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe('Automatic certificates of one site; 0: unlimited'),
  maxConnections: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe('Requests of one site at the same time, at each node; 0: unlimited'),
  responseMbps: z.int().min(0).max(1_000_000).default(0).describe('Mbit/s of each response; 0: unlimited'),
  trafficPriceCents: z.int().min(0).max(1_000_000_00).default(0).describe('NTD cents for each GB'),
  overLimitAction: z.enum(['none', 'notify', 'limit']).default('none'),
  sellType: z.enum(['personal', 'business']).default('business'),
  use: z.enum(['selfUse', 'commercial']).default('commercial'),
  cnameMode: z.enum(['random', 'custom']).default('random'),
  accessLog: z
    .boolean()
    .default(true)
    .describe('False: requests of its sites are counted, but not stored for searches, exports and filters'),
  domainLock: z.boolean().default(false).describe('True: customers neither add nor remove domains'),
  autoSSL: z
    .boolean()
    .default(true)
    .describe('False: customers order no automatic certificates; those that they have are renewed'),
  newSiteStatus: NewSiteStatus.default('normal'),
  newDomainsEnabled: z.boolean().default(true).describe('Whether domains are added enabled, unless the call says'),
  minTLS: MinTls.default('TLSv1.2').describe('The oldest version on its domains, which may require a newer one'),
});
/** Omitted fields stay unchanged. The zone cannot change while sites use the product. */
export const ProductUpdate = z.object({
  id: Id,
  name: Text.optional(),
  zoneID: Id.optional(),
  groupID: Id.nullable().optional(),
  backupGroupID: Id.nullable().optional(),
  memo: Memo.optional(),
  siteLimit: z.int().min(0).max(1_000_000).optional(),
  domainLimit: z.int().min(0).max(1_000_000).optional(),
  portLimit: z.int().min(0).max(1_000_000).optional(),
  autoCertificateLimit: z.int().min(0).max(1_000_000).optional(),
  maxConnections: z.int().min(0).max(1_000_000).optional(),
  responseMbps: z.int().min(0).max(1_000_000).optional(),
  trafficPriceCents: z.int().min(0).max(1_000_000_00).optional(),
  overLimitAction: z.enum(['none', 'notify', 'limit']).optional(),
  sellType: z.enum(['personal', 'business']).optional(),
  use: z.enum(['selfUse', 'commercial']).optional(),
  cnameMode: z.enum(['random', 'custom']).optional(),
  accessLog: z.boolean().optional(),
  domainLock: z.boolean().optional(),
  autoSSL: z.boolean().optional(),
  newSiteStatus: NewSiteStatus.optional(),
  newDomainsEnabled: z.boolean().optional(),
  minTLS: MinTls.optional(),
});
// From the update schema: a reply must contain every field, and defaults would hide missing ones.
export const Product = ProductUpdate.required().extend({
  zoneName: Text,
  groupName: z.string().nullable(),
  siteCount: z.int(),
  createdAt: Time,
  updatedAt: Time,
});
export type Product = z.output<typeof Product>;
export type ProductInput = z.output<typeof ProductInput>;
export type ProductUpdate = z.output<typeof ProductUpdate>;
