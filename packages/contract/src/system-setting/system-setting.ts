// An operator's settings, each with a call of its own.
import * as z from 'zod';
import { embeddedIPv4, groupsOf } from '../common/address.ts';
import { isEverything, noDuplicateIP } from '../common/net.ts';
import { DbBackup } from '../db-backup/db-backup.ts';
import { NameProofSetting } from '../name-proof-setting/name-proof-setting.ts';
import { Network } from '../zone-firewall/zone-firewall.ts';

export const OutgoingURLInput = z.object({
  outgoingURL: z
    .url({ protocol: /^https?$/ })
    .max(256)
    .regex(/^https?:\/\/[^/?#@\s]+\/?$/i, { message: 'wrong format' })
    .nullable()
    .describe(
      'Address of the consoles in mails to the accounts of the operator: its host is that of the installation or of a branding. Null: that of the installation',
    ),
});

export const AccountVerify = z.object({
  accountVerify: z
    .boolean()
    .describe(
      'Every sign-in by password needs a second factor, also of accounts that have turned it off. The root account needs an authenticator or a passkey to turn it on',
    ),
});

const withLength = (cidr: string) => (cidr.includes('/') ? cidr : `${cidr}/${cidr.includes(':') ? 128 : 32}`);
/** An IPv4 network in IPv6 spelling. Such origins are compared as the IPv4 addresses in them. */
const isEmbeddedIPv4 = (cidr: string) => {
  const [address = '', length] = cidr.split('/');
  return Number(length) >= 96 && embeddedIPv4(groupsOf(address) ?? []) !== null;
};
const RestrictedNetwork = Network.overwrite(withLength).refine((cidr) => !isEverything(cidr) && !isEmbeddedIPv4(cidr), {
  message: 'wrong format',
});

export const RestrictGroupCIDRsInput = z.object({
  cidrs: z
    .array(RestrictedNetwork)
    .max(100)
    .superRefine(noDuplicateIP)
    .describe('Networks in which no origins are allowed, also where the installation allows them'),
});

export const OutgoingURL = z.object({ outgoingURL: z.string().nullable() });
export const RestrictGroupCIDRs = z.object({ cidrs: z.array(z.string()) });
export const SystemSettings = z.object({
  outgoingURL: OutgoingURL,
  accountVerify: AccountVerify,
  restrictGroupCIDRs: RestrictGroupCIDRs,
  nameProof: NameProofSetting,
  DBBackup: DbBackup.nullable().describe('Null without the permission, and in installations with several operators'),
});

export type OutgoingURL = z.output<typeof OutgoingURL>;
export type AccountVerify = z.output<typeof AccountVerify>;
export type RestrictGroupCIDRs = z.output<typeof RestrictGroupCIDRs>;
export type SystemSettings = z.output<typeof SystemSettings>;
