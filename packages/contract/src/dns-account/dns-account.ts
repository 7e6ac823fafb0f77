// An account at a DNS provider: what one signs in with at each of them, wherever such an account is kept.
import * as z from 'zod';

export const DnsProvider = z.enum(['powerDNS', 'cloudflare', 'dnspod', 'aliDNS', 'route53', 'huaweiCloud']);
const Secret = z.string().trim().min(1).max(512);

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

/** As forms ask for it, field beside field, with what else the account is for. */
export const dnsAccountForms = <Extra extends z.ZodRawShape>(extra: Extra) => ({
  powerDNS: PowerDnsInput.extend(extra),
  cloudflare: CloudflareInput.extend(extra),
  dnspod: DnspodInput.extend(extra),
  aliDNS: AliDnsInput.extend(extra),
  route53: Route53Input.extend(extra),
  huaweiCloud: HuaweiCloudInput.extend(extra),
});

/** As bodies have it: the provider beside the credentials, which are given as a whole. */
export const withDnsAccount = <Extra extends z.ZodRawShape>(extra: Extra) =>
  z.discriminatedUnion('provider', [
    z.object({ ...extra, provider: z.literal('powerDNS'), credentials: PowerDnsInput }),
    z.object({ ...extra, provider: z.literal('cloudflare'), credentials: CloudflareInput }),
    z.object({ ...extra, provider: z.literal('dnspod'), credentials: DnspodInput }),
    z.object({ ...extra, provider: z.literal('aliDNS'), credentials: AliDnsInput }),
    z.object({ ...extra, provider: z.literal('route53'), credentials: Route53Input }),
    z.object({ ...extra, provider: z.literal('huaweiCloud'), credentials: HuaweiCloudInput }),
  ]);
export const DnsCredentials = withDnsAccount({});

export type KeyPair = z.output<typeof KeyPair>;
export type DnsCredentials = z.output<typeof DnsCredentials>;
export type DnsProvider = z.output<typeof DnsProvider>;
