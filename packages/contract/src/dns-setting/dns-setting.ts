import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { DomainNameInput } from '../common/net.ts';
import {
  AliDnsInput,
  CloudflareInput,
  dnsAccountForms,
  DnspodInput,
  DnsProvider,
  HuaweiCloudInput,
  PowerDnsInput,
  Route53Input,
} from '../dns-account/dns-account.ts';
import { Line, Weighting } from './lines.ts';

const PlainName = DomainNameInput.refine((name) => !name.startsWith('*.'), { message: 'enter a domain name' });
/** Leaves room for a label and a dot. */
export const Suffix = PlainName.max(200);
const RootDomain = Suffix.describe('The zone at the provider in which names are made');

const withCredentials = <Extra extends z.ZodRawShape>(extra: Extra) =>
  z.discriminatedUnion('dnsType', [
    z.object({ ...extra, dnsType: z.literal('powerDNS'), credentials: PowerDnsInput }),
    z.object({ ...extra, dnsType: z.literal('cloudflare'), credentials: CloudflareInput }),
    z.object({ ...extra, dnsType: z.literal('dnspod'), credentials: DnspodInput }),
    z.object({ ...extra, dnsType: z.literal('aliDNS'), credentials: AliDnsInput }),
    z.object({ ...extra, dnsType: z.literal('route53'), credentials: Route53Input }),
    z.object({ ...extra, dnsType: z.literal('huaweiCloud'), credentials: HuaweiCloudInput }),
  ]);

/** Credentials are always complete, since none is shown. An existing root domain gets the new ones. */
export const DnsSettingInput = withCredentials({
  rootDomain: RootDomain,
  cname: Suffix.optional().describe('With the first account: the name below which sites have theirs'),
});
export const DnsSettingTest = withCredentials({ rootDomain: RootDomain });

export const dnsSettingForms = dnsAccountForms({ rootDomain: RootDomain });

export const DnsSetting = z.object({
  id: Id,
  dnsType: DnsProvider,
  rootDomain: z.string(),
  credentials: z.string().describe('What it signs in with, masked'),
  names: z.int().describe('Names whose records are there'),
  unprocessed: z.int().describe('Of them those that are not yet as they should be'),
  fault: z.string().nullable().describe('Why the provider could not be asked the last time; null: it could'),
  faultAt: Time.nullable(),
  heldUntil: Time.nullable().describe('Until then it is not asked again'),
  listedAt: Time.nullable().describe('When the whole zone was last compared with what it should be'),
  drifted: z.int().describe('How many names that comparison found otherwise, and had repaired'),
  driftedNames: z.array(z.string()).describe('The first of them'),
  lines: z.array(Line).nullable().describe('Lines that the provider supports; null: not known yet'),
  weighting: Weighting.nullable(),
  createdAt: Time,
  updatedAt: Time,
});
/** The result of a test. */
export const DnsTested = z.object({
  records: z.int().describe('In the zone at this moment'),
  lines: z.array(Line).describe('Lines that the provider supports'),
  weighting: Weighting,
});

/** A change that the provider does not have yet. */
export const UnprocessedName = z.object({
  id: Id,
  dnsSettingID: Id,
  name: z.string(),
  answers: z.array(z.string()).describe('What it should answer; none: it is to go'),
  fault: z.string().nullable().describe('Why it is not so yet; null: its turn has not come'),
  tries: z.int(),
  wantedAt: Time,
  dueAt: Time.describe('When it is tried next'),
});
export const RecoveryInput = z.object({
  ids: z.array(Id).max(1000).default([]).describe('None: all of them'),
  takeOver: z.boolean().default(false).describe('Records of somebody else under these names become ours'),
});

export const CnameInput = z.object({
  name: Suffix.describe('A root domain of an account, or a name in it'),
  isDefault: z.boolean().default(false).describe('The one that customers see'),
});
export const CnameUpdate = z.object({ id: Id, isDefault: z.literal(true) });
export const Cname = z.object({
  id: Id,
  name: z.string(),
  isDefault: z.boolean(),
  dnsSettingID: Id,
  dnsType: DnsProvider,
  rootDomain: z.string(),
  names: z.int().describe('Names below it'),
  createdAt: Time,
  updatedAt: Time,
});

export const DnsLine = z.object({
  line: Line,
  isOffered: z
    .boolean()
    .describe(
      'Every provider supports it; otherwise its visitors get the answer of the default line where one does not',
    ),
});

export type DnsSetting = z.output<typeof DnsSetting>;
export type DnsSettingInput = z.output<typeof DnsSettingInput>;
export type DnsSettingTest = z.output<typeof DnsSettingTest>;
export type DnsTested = z.output<typeof DnsTested>;
export type UnprocessedName = z.output<typeof UnprocessedName>;
export type RecoveryInput = z.output<typeof RecoveryInput>;
export type Cname = z.output<typeof Cname>;
export type CnameInput = z.output<typeof CnameInput>;
