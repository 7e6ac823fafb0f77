// What all DNS providers are to us, and the accounts that sites have at them.
import type { Weighting } from '@edgeloom/contract/dns-setting/lines.ts';
import type { DnsCredentials, DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import * as z from 'zod';
import { outboundFetch } from '../core/outbound-fetch.ts';
import type { Env } from '../env.ts';
import { aliDns } from './ali-dns.ts';
import { cloudflare } from './cloudflare.ts';
import { dnspod } from './dnspod.ts';
import { huaweiCloud } from './huawei-cloud.ts';
import type { RecordType } from './names.ts';
import { powerDns } from './power-dns.ts';
import { route53 } from './route-53.ts';

/** A class of visitors that a provider answers differently. */
export interface DnsLine {
  id: string;
  name: string;
}
/** What is answered for a name: one set for each type and line. */
export interface DnsRecords {
  /** In full, without a dot at its end. */
  name: string;
  type: RecordType;
  /** All values of the set; of TXT without quotes. */
  values: string[];
  ttlSeconds: number;
  /** Of each value its share beside the others, one being answered at a time; without them all are answered. */
  weights?: number[];
  /** One of the provider's lines; without it: for everybody whom no line takes. */
  line?: string;
}
export interface DnsAccount {
  /** None: the provider answers everybody alike. */
  lines: (zone: string) => Promise<DnsLine[]>;
  weighting: (zone: string) => Promise<Weighting>;
  /** Of the whole zone, or of one name in it. */
  list: (zone: string, name?: string) => Promise<DnsRecords[]>;
  /** The set has these values and no others, at no moment none. */
  upsert: (zone: string, records: DnsRecords) => Promise<void>;
  remove: (zone: string, set: DnsKey) => Promise<void>;
  /** Where the vendor has it: many in a step, and none of a step that is refused. */
  change?: (zone: string, changes: DnsChange[]) => Promise<void>;
  /** Elsewhere: reads the zone once, instead of what is there of each set that is changed next. */
  readAhead?: (zone: string) => Promise<void>;
  /** Elsewhere: so many names side by side. */
  atOnce?: number;
}

/** Which set of a zone. */
export type DnsKey = Pick<DnsRecords, 'name' | 'type' | 'line'>;
export type DnsChange = { put: DnsRecords } | { drop: DnsKey };
/** A zone of a hundred thousand names in one answer. */
const ZONE_BYTES = 32_000_000;
export type Ask = ReturnType<typeof outboundFetch>;

export function openDns(
  env: Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY' | 'DNS_ENDPOINTS'>,
  { provider, credentials }: DnsCredentials,
): DnsAccount {
  const ask = outboundFetch(env, ZONE_BYTES);
  const { DNS_ENDPOINTS: endpoints } = env;
  switch (provider) {
    case 'powerDNS':
      return powerDns(credentials, ask);
    case 'cloudflare':
      return cloudflare(credentials, ask, endpoints.cloudflare);
    case 'dnspod':
      return dnspod(credentials, ask, endpoints.dnspod);
    case 'aliDNS':
      return aliDns(credentials, ask, endpoints.aliDNS);
    case 'route53':
      return route53(credentials, ask, endpoints.route53);
    case 'huaweiCloud':
      return huaweiCloud(credentials, ask, endpoints.huaweiCloud);
  }
}

/** Until what was changed by the API is answered everywhere. */
export const settlingMs: Record<DnsProvider, number> = {
  powerDNS: 0,
  cloudflare: 10_000,
  dnspod: 10_000,
  aliDNS: 10_000,
  route53: 60_000,
  huaweiCloud: 10_000,
};

/** The words of a provider, as a line that anybody may read. */
export function words(error: unknown): string {
  // What it answered is no JSON, or not what its API answers: a wrong address mostly, and nothing to read out.
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'the answer is not understood';
  // A name with several addresses, none of which answers.
  if (error instanceof AggregateError && error.errors.length > 0) return words(error.errors[0]);
  return (error instanceof Error ? error.message || String(error.cause ?? error.name) : String(error))
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 500);
}
