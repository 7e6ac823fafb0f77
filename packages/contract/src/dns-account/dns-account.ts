// Credentials of accounts at each DNS provider.
import * as z from 'zod';
import { secret } from '../common/secret.ts';

export const DnsProvider = z.enum(['powerDNS', 'cloudflare', 'dnspod', 'aliDNS', 'route53', 'huaweiCloud']);
const Secret = secret(z.string().trim().min(1).max(512));

export const PowerDnsInput = z.object({
  url: z
    .url({ protocol: /^https?$/ })
    .max(1000)
    // Our client appends its own path.
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

/** A key pair for signed API calls. */
const KeyPair = z.object({
  keyID: z
    .string()
    .trim()
    .min(1)
    .max(128)
    .regex(/^[\w-]+$/),
  keySecret: Secret,
});
/** The cloud of an account: the two have separate accounts and APIs. */
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

/** For forms: flat fields, with the form's additional ones. */
export const dnsAccountForms = <Extra extends z.ZodRawShape>(extra: Extra) => ({
  powerDNS: PowerDnsInput.extend(extra),
  cloudflare: CloudflareInput.extend(extra),
  dnspod: DnspodInput.extend(extra),
  aliDNS: AliDnsInput.extend(extra),
  route53: Route53Input.extend(extra),
  huaweiCloud: HuaweiCloudInput.extend(extra),
});

/** For request bodies: the provider beside its credentials, which are always complete. */
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
