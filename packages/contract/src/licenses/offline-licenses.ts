import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { Counts, LicenseOfferInput, LicenseOfferUpdate, Limit, MonitorSeconds } from './licenses.ts';

const terms = {
  name: Text,
  siteLimit: Limit,
  nodeLimit: Limit,
  zoneLimit: Limit,
  domainLimit: Limit,
  autoCertificateLimit: Limit,
  layer4: z.boolean(),
  monitorSeconds: MonitorSeconds,
};
const MachineCode = z.string().regex(/^[0-9a-f]{32}$/);

/** The signed part of an offline license file. Strict, since unknown fields would be signed, too. */
export const SignedTerms = z.strictObject({
  format: z.literal('edgeloom-license/1'),
  id: Id,
  ...terms,
  machineCode: MachineCode,
  counter: z.int().min(1).describe('An installation refuses a lower one than it has loaded'),
  issuedAt: Time.describe('When the file was signed'),
  notBefore: Time,
  notAfter: Time.nullable(),
});
/** The terms of a stored file. A later release may have signed more fields. */
export const LoadedTerms = z.object({ ...terms, id: Id, notBefore: Time, notAfter: Time.nullable() });
export const LicenseFile = z.strictObject({ license: SignedTerms, signature: z.base64() });

/** Limits of a whole installation, for which it gets a signed file. */
export const OfflineLicenseInput = LicenseOfferInput.omit({ days: true }).extend({
  startsAt: Time.optional().describe('Default: now'),
  endsAt: Time.nullable().default(null).describe('Null: without an end'),
});
/** Omitted fields stay unchanged. An installation has the change once it loads a new file. */
export const OfflineLicenseUpdate = LicenseOfferUpdate.omit({ days: true }).extend({
  startsAt: Time.optional(),
  endsAt: Time.nullable().optional(),
});
export const OfflineLicense = OfflineLicenseUpdate.required().extend({
  machineCode: z.string().nullable().describe('The installation that it was issued to'),
  issuedAt: Time.nullable(),
  createdAt: Time,
  updatedAt: Time,
});
export const OfflineIssuing = z.object({
  id: Id,
  machineCode: MachineCode.describe('GET offline/license of the installation shows it'),
});
export const IssuedFile = z.object({ id: Id, license: z.string().describe('The content of the license file') });

export const LicenseLoad = z.object({
  license: z.string().min(1).max(20_000).describe('The content of a license file'),
});
/** The license of this installation. */
export const InstallationLicense = z.object({
  machineCode: z.string(),
  license: LoadedTerms.nullable().describe('Null: none is loaded, and there are no limits'),
  isExpired: z.boolean(),
  otherMachineUntil: Time.nullable().describe(
    'The license is for another machine, and counts as expired from then on. Null: it is for this machine',
  ),
  uses: Counts,
  loadedAt: Time.nullable(),
});

export type LoadedTerms = z.output<typeof LoadedTerms>;
export type SignedTerms = z.output<typeof SignedTerms>;
export type OfflineLicenseInput = z.output<typeof OfflineLicenseInput>;
export type OfflineLicenseUpdate = z.output<typeof OfflineLicenseUpdate>;
export type OfflineLicense = z.output<typeof OfflineLicense>;
export type OfflineIssuing = z.output<typeof OfflineIssuing>;
export type InstallationLicense = z.output<typeof InstallationLicense>;
