// Opens a site's or an installation's account at its DNS provider.
import type { DnsCredentials, DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import * as z from 'zod';
import { outboundFetch } from '../core/outbound-fetch.ts';
import type { Env } from '../core/env.ts';
import type { DnsAccount } from './account.ts';
import { aliDns } from './ali-dns.ts';
import { cloudflare } from './cloudflare.ts';
import { dnspod } from './dnspod.ts';
import { huaweiCloud } from './huawei-cloud.ts';
import { powerDns } from './power-dns.ts';
import { route53 } from './route-53.ts';

/** The size of a zone with a hundred thousand names in one response. */
const ZONE_BYTES = 32_000_000;

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
export const propagationMs: Record<DnsProvider, number> = {
  powerDNS: 0,
  cloudflare: 10_000,
  dnspod: 10_000,
  aliDNS: 10_000,
  route53: 60_000,
  huaweiCloud: 10_000,
};

/** A provider's error as one safe line. */
export function describeError(error: unknown): string {
  // Not the provider's API: usually a wrong address. The body is not shown.
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'the answer is not understood';
  // All of a name's addresses failed.
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0]);
  return (error instanceof Error ? error.message || String(error.cause ?? error.name) : String(error))
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 500);
}
