import * as z from 'zod';
import { AccountStatus } from '../auth/auth.ts';
import { Id, Text, Time } from '../common/common.ts';

/** Objects that a license limits, counted per operator. */
export const Licensed = z.enum(['sites', 'nodes', 'zones', 'domains', 'autoCertificates']);
export const Counts = z.object({
  sites: z.int(),
  nodes: z.int(),
  zones: z.int(),
  domains: z.int(),
  autoCertificates: z.int(),
});
export const License = z.object({
  name: z.string().nullable().describe('The offer that was issued last'),
  limits: Counts.describe('0: unlimited'),
  uses: Counts,
  layer4: z.boolean().describe('Whether its sites may forward ports by layer 4'),
  monitorSeconds: z.int().describe('Shortest interval of monitoring in seconds; 0: any'),
  endsAt: Time.nullable().describe('From then on nothing is added; what is there goes on'),
});
/** An operator with its license. One without a license has no limits. */
export const OperatorLicense = License.extend({
  id: Id.describe("The operator's root account"),
  accountID: Id.describe('The same as `id`'),
  clientName: z.string(),
  isLicensed: z.boolean(),
  status: AccountStatus,
});

export const Limit = z.int().min(0).max(1_000_000);
export const MonitorSeconds = z.int().min(0).max(86_400).describe('Shortest interval of monitoring in seconds; 0: any');
const Days = z.int().min(0).max(36_500).describe('0: without an end');

export const LicenseOfferInput = z.object({
  name: Text,
  days: Days,
  siteLimit: Limit.default(0).describe('0: unlimited'),
  nodeLimit: Limit.default(0).describe('0: unlimited'),
  zoneLimit: Limit.default(0).describe('0: unlimited'),
  domainLimit: Limit.default(0).describe('0: unlimited'),
  autoCertificateLimit: Limit.default(0).describe('0: unlimited'),
  layer4: z.boolean().default(false).describe('Port type 7+4 in place of 7. It stays once the offer was issued'),
  monitorSeconds: MonitorSeconds.default(0),
});
/** Omitted fields stay unchanged. Licenses that were issued before keep their terms. */
export const LicenseOfferUpdate = z.object({
  id: Id,
  name: Text.optional(),
  days: Days.optional(),
  siteLimit: Limit.optional(),
  nodeLimit: Limit.optional(),
  zoneLimit: Limit.optional(),
  domainLimit: Limit.optional(),
  autoCertificateLimit: Limit.optional(),
  layer4: z.boolean().optional(),
  monitorSeconds: MonitorSeconds.optional(),
});
export const LicenseOffer = LicenseOfferUpdate.required().extend({
  orderCount: z.int().describe('How often it was issued'),
  createdAt: Time,
  updatedAt: Time,
});

export const LicenseIssuing = z.object({
  licenseID: Id.describe('The offer'),
  userID: Id.describe('An account of the operator'),
});
/** One issuing, with the terms of that day. */
export const LicenseOrder = LicenseOfferUpdate.required().extend({
  licenseID: Id.nullable().describe('The offer; null: it was removed since'),
  endsAt: Time.nullable().describe('End of the license after this order'),
  createdByName: z.string(),
  createdAt: Time,
});
/** Changes the terms of a running license, except its port type. Omitted fields stay unchanged. */
export const LicenseSetting = z.object({
  siteLimit: Limit.optional(),
  nodeLimit: Limit.optional(),
  zoneLimit: Limit.optional(),
  domainLimit: Limit.optional(),
  autoCertificateLimit: Limit.optional(),
  monitorSeconds: MonitorSeconds.optional(),
  endsAt: Time.nullable().optional().describe('Null: without an end'),
});
export const LicenseSettingUpdate = z.object({ licenseSetting: LicenseSetting });

export type LicenseOfferInput = z.output<typeof LicenseOfferInput>;
export type LicenseOfferUpdate = z.output<typeof LicenseOfferUpdate>;
export type LicenseOffer = z.output<typeof LicenseOffer>;
export type LicenseIssuing = z.output<typeof LicenseIssuing>;
export type LicenseOrder = z.output<typeof LicenseOrder>;
export type LicenseSetting = z.output<typeof LicenseSetting>;
export type Licensed = z.output<typeof Licensed>;
export type License = z.output<typeof License>;
export type OperatorLicense = z.output<typeof OperatorLicense>;
