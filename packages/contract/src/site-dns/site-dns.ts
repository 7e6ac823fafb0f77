import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { DomainNameInput } from '../common/net.ts';
import { dnsAccountForms, DnsProvider, withDnsAccount } from '../dns-account/dns-account.ts';

const Zones = z
  .array(DomainNameInput.refine((name) => !name.startsWith('*.'), { message: 'enter a domain name' }))
  .min(1)
  .max(100)
  .refine((names) => new Set(names).size === names.length, { message: 'data already exists' })
  .describe('Zones at the provider that it may be used for');

export const siteDnsForms = dnsAccountForms({ domains: Zones });
export const SiteDnsInput = withDnsAccount({ domains: Zones });
/** Credentials are always complete, since none is shown. */
export const SiteDnsUpdate = withDnsAccount({ id: Id, domains: Zones });

export const SiteDns = z.object({
  id: Id,
  provider: DnsProvider,
  domains: z.array(z.string()),
  credentials: z.string().describe('What it signs in with, masked'),
  createdAt: Time,
  updatedAt: Time,
});
export type SiteDns = z.output<typeof SiteDns>;
export type SiteDnsInput = z.output<typeof SiteDnsInput>;
export type SiteDnsUpdate = z.output<typeof SiteDnsUpdate>;
