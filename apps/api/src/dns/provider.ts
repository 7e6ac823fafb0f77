// The common interface of DNS providers, and sites' accounts at them.
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

/** A class of visitors with its own records. */
export interface DnsLine {
  id: string;
  name: string;
}
/** The records of a name: one set per type and line. */
export interface DnsRecords {
  /** The full name without a final dot. */
  name: string;
  type: RecordType;
  /** All values of the set. TXT values are unquoted. */
  values: string[];
  ttlSeconds: number;
  /** Relative weights, one value per response. Without weights all values are returned. */
  weights?: number[];
  /** The provider's line. Undefined: the default line. */
  line?: string;
}
export interface DnsAccount {
  /** Empty: the provider supports no lines. */
  lines: (zone: string) => Promise<DnsLine[]>;
  weighting: (zone: string) => Promise<Weighting>;
  /** Lists the whole zone, or one name. */
  list: (zone: string, name?: string) => Promise<DnsRecords[]>;
  /** Makes the set have exactly these values, without a moment of none. */
  upsert: (zone: string, records: DnsRecords) => Promise<void>;
  remove: (zone: string, set: DnsKey) => Promise<void>;
  /** Applies many changes atomically, where the vendor supports it. */
  change?: (zone: string, changes: DnsChange[]) => Promise<void>;
  /** Otherwise: lists the zone once before many changes. */
  readAhead?: (zone: string) => Promise<void>;
  /** Otherwise: number of concurrent names. */
  atOnce?: number;
}

/** Identifies a set within a zone. */
export type DnsKey = Pick<DnsRecords, 'name' | 'type' | 'line'>;
export type DnsChange = { put: DnsRecords } | { drop: DnsKey };
/** The size of a zone with a hundred thousand names in one response. */
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

/** Time until a change through the API is served everywhere. */
export const settlingMs: Record<DnsProvider, number> = {
  powerDNS: 0,
  cloudflare: 10_000,
  dnspod: 10_000,
  aliDNS: 10_000,
  route53: 60_000,
  huaweiCloud: 10_000,
};

/** A provider's error as one safe line. */
export function words(error: unknown): string {
  // Not the provider's API: usually a wrong address. The body is not shown.
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'the answer is not understood';
  // All of a name's addresses failed.
  if (error instanceof AggregateError && error.errors.length > 0) return words(error.errors[0]);
  return (error instanceof Error ? error.message || String(error.cause ?? error.name) : String(error))
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 500);
}
