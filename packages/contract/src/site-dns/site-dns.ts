import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { DomainName } from '../common/net.ts';

export const DnsProvider = z.enum(['powerDNS', 'cloudflare']);
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

/** As forms ask for it, field beside field. */
export const PowerDnsForm = PowerDnsInput.extend({ domains: Zones });
export const CloudflareForm = CloudflareInput.extend({ domains: Zones });

const withCredentials = <Extra extends z.ZodRawShape>(extra: Extra) =>
  z.discriminatedUnion('provider', [
    z.object({ ...extra, provider: z.literal('powerDNS'), credentials: PowerDnsInput, domains: Zones }),
    z.object({ ...extra, provider: z.literal('cloudflare'), credentials: CloudflareInput, domains: Zones }),
  ]);
export const SiteDnsInput = withCredentials({});
/** Credentials are given as a whole: none of them is ever shown. */
export const SiteDnsUpdate = withCredentials({ id: Id });

export const SiteDns = z.object({
  id: Id,
  provider: DnsProvider,
  domains: z.array(z.string()),
  credentials: z.string().describe('What it signs in with, masked'),
  createdAt: Time,
  updatedAt: Time,
});
export type DnsProvider = z.output<typeof DnsProvider>;
export type SiteDns = z.output<typeof SiteDns>;
export type SiteDnsInput = z.output<typeof SiteDnsInput>;
export type SiteDnsUpdate = z.output<typeof SiteDnsUpdate>;
