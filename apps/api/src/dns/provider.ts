// What all DNS providers are to us, and the accounts that sites have at them.
import * as z from 'zod';
import { CloudflareInput, PowerDnsInput } from '@edgeloom/contract/site-dns/site-dns.ts';
import { outboundFetch } from '../core/outbound-fetch.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Env } from '../env.ts';
import { cloudflare } from './cloudflare.ts';
import { powerDns } from './power-dns.ts';

export interface DnsRecords {
  /** In full, without a dot at its end. */
  name: string;
  type: 'A' | 'AAAA' | 'CNAME' | 'TXT';
  /** All values of the name; of TXT without quotes. */
  values: string[];
  ttlSeconds: number;
}
export interface DnsAccount {
  /** The classes of visitors that the provider can answer differently; none: only everybody. */
  lines: () => Promise<{ id: string; name: string }[]>;
  list: (zone: string) => Promise<DnsRecords[]>;
  /** The name has these values of this type, and no others. */
  upsert: (zone: string, records: DnsRecords) => Promise<void>;
  remove: (zone: string, records: Pick<DnsRecords, 'name' | 'type'>) => Promise<void>;
}
export type Ask = ReturnType<typeof outboundFetch>;

/** What a provider answered instead of doing it, in its own words. */
export class DnsRefusal extends Error {}

export const Credentials = z.discriminatedUnion('provider', [
  z.object({ provider: z.literal('powerDNS'), credentials: PowerDnsInput }),
  z.object({ provider: z.literal('cloudflare'), credentials: CloudflareInput }),
]);
export type Credentials = z.output<typeof Credentials>;

export function openDns(env: Env, account: Credentials): DnsAccount {
  const ask = outboundFetch(env);
  return account.provider === 'powerDNS' ? powerDns(account.credentials, ask) : cloudflare(account.credentials, ask);
}

/** Until what was changed by the API is answered everywhere. */
export const settlingMs: Record<Credentials['provider'], number> = { powerDNS: 0, cloudflare: 10_000 };

const context = (id: string) => `site_dns/${id}/credentials`;
export const sealCredentials = (secrets: Pick<Secrets, 'seal'>, id: string, { credentials }: Credentials) =>
  secrets.seal(JSON.stringify(credentials), context(id));
export const openCredentials = (
  secrets: Pick<Secrets, 'open'>,
  row: { id: string; provider: string; credentialsSealed: string },
): Credentials =>
  Credentials.parse({
    provider: row.provider,
    credentials: JSON.parse(secrets.open(row.credentialsSealed, context(row.id))),
  });

/** Enough to tell two accounts apart. */
export const masked = ({ provider, credentials }: Credentials): string => {
  const secret = provider === 'powerDNS' ? credentials.apiKey : credentials.apiToken;
  const end = secret.length >= 16 ? secret.slice(-4) : '';
  return provider === 'powerDNS' ? `${new URL(credentials.url).host} ••••${end}` : `••••${end}`;
};
/** The words of a provider, as a line that anybody may read. */
export const words = (error: unknown): string =>
  (error instanceof Error ? error.message || String(error.cause ?? error.name) : String(error))
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 500);
