import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { DomainName } from '../common/net.ts';

export const DnsProvider = z.enum(['powerDNS', 'cloudflare', 'dnspod', 'aliDNS', 'route53', 'huaweiCloud']);
const Secret = z.string().trim().min(1).max(512);
const Zones = z
  .array(DomainName.refine((name) => !name.startsWith('*.'), { message: 'enter a domain name' }))
  .min(1)
  .max(100)
  .refine((names) => new Set(names).size === names.length, { message: 'data already exists' })
  .describe('Zones at the provider that it may be used for');

export const PowerDnsInput = z.object({
  url: z
    .url({ protocol: /^https?$/ })
    .max(1000)
    // The path that is asked is ours to say.
    .regex(/^[^?#@]*$/, { message: 'wrong format' })
    .describe('Address of its API'),
  serverID: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^[\w.-]+$/)
    .default('localhost'),
  apiKey: Secret,
});
export const CloudflareInput = z.object({ apiToken: Secret });

/** What the large clouds sign calls with. */
const KeyPair = z.object({
  keyID: z
    .string()
    .trim()
    .min(1)
    .max(128)
    .regex(/^[\w-]+$/),
  keySecret: Secret,
});
/** Which of its two clouds an account belongs to: they know nothing of each other. */
const Edition = z.enum(['china', 'international']);
export const DnspodInput = KeyPair.extend({ edition: Edition.default('china') });
export const AliDnsInput = KeyPair;
export const Route53Input = KeyPair.extend({ edition: Edition.default('international') });
export const HuaweiCloudInput = KeyPair.extend({
  region: z
    .string()
    .trim()
    .max(32)
    .regex(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/)
    .default('ap-southeast-1')
    .describe('Whose endpoint is asked'),
});

/** As forms ask for it, field beside field. */
const form = <Credentials extends z.ZodRawShape>(credentials: z.ZodObject<Credentials>) =>
  credentials.extend({ domains: Zones });
export const siteDnsForms = {
  powerDNS: form(PowerDnsInput),
  cloudflare: form(CloudflareInput),
  dnspod: form(DnspodInput),
  aliDNS: form(AliDnsInput),
  route53: form(Route53Input),
  huaweiCloud: form(HuaweiCloudInput),
};

const withCredentials = <Extra extends z.ZodRawShape>(extra: Extra) =>
  z.discriminatedUnion('provider', [
    z.object({ ...extra, provider: z.literal('powerDNS'), credentials: PowerDnsInput }),
    z.object({ ...extra, provider: z.literal('cloudflare'), credentials: CloudflareInput }),
    z.object({ ...extra, provider: z.literal('dnspod'), credentials: DnspodInput }),
    z.object({ ...extra, provider: z.literal('aliDNS'), credentials: AliDnsInput }),
    z.object({ ...extra, provider: z.literal('route53'), credentials: Route53Input }),
    z.object({ ...extra, provider: z.literal('huaweiCloud'), credentials: HuaweiCloudInput }),
  ]);
export const DnsCredentials = withCredentials({});
export const SiteDnsInput = withCredentials({ domains: Zones });
/** Credentials are given as a whole: none of them is ever shown. */
export const SiteDnsUpdate = withCredentials({ id: Id, domains: Zones });

export const SiteDns = z.object({
  id: Id,
  provider: DnsProvider,
  domains: z.array(z.string()),
  credentials: z.string().describe('What it signs in with, masked'),
  createdAt: Time,
  updatedAt: Time,
});
export type KeyPair = z.output<typeof KeyPair>;
export type DnsCredentials = z.output<typeof DnsCredentials>;
export type DnsProvider = z.output<typeof DnsProvider>;
export type SiteDns = z.output<typeof SiteDns>;
export type SiteDnsInput = z.output<typeof SiteDnsInput>;
export type SiteDnsUpdate = z.output<typeof SiteDnsUpdate>;
