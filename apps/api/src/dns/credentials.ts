// Credentials of DNS accounts: stored sealed, never shown.
import { DnsCredentials } from '@edgeloom/contract/dns-account/dns-account.ts';
import { fieldError } from '../core/fail.ts';
import type { Secrets } from '../core/secrets.ts';

/** The table that stores them. A seal opens in its own row and table only. */
type Keeper = 'site_dns' | 'dns_settings';
const context = (keeper: Keeper, id: string) => `${keeper}/${id}/credentials`;

export const sealCredentials = (
  secrets: Pick<Secrets, 'seal'>,
  keeper: Keeper,
  id: string,
  { credentials }: DnsCredentials,
) => secrets.seal(JSON.stringify(credentials), context(keeper, id));
export const openCredentials = (
  secrets: Pick<Secrets, 'open'>,
  keeper: Keeper,
  row: { id: string; provider: string; credentialsSealed: string },
): DnsCredentials =>
  DnsCredentials.parse({
    provider: row.provider,
    credentials: JSON.parse(secrets.open(row.credentialsSealed, context(keeper, row.id))),
  });

/** A masked form that still distinguishes two accounts. */
export function masked({ provider, credentials }: DnsCredentials): string {
  if (provider === 'powerDNS') return `${new URL(credentials.url).host} ${endOf(credentials.apiKey)}`;
  return endOf(provider === 'cloudflare' ? credentials.apiToken : credentials.keyID);
}
const endOf = (text: string) => `••••${text.length >= 16 ? text.slice(-4) : ''}`;

/** The form field that a provider's error belongs to. Providers report text only, which usually means one of these. */
export function faultAt(provider: DnsCredentials['provider'], message: string, zoneField: 'rootDomain' | 'domains') {
  const secret = provider === 'powerDNS' ? 'apiKey' : provider === 'cloudflare' ? 'apiToken' : 'keySecret';
  const isRefused = /\b40[13]\b|unauthori[sz]ed|forbidden|signature|aksk|auth|token|invalid.*key/i.test(message);
  const isUnknown = /zone|domain|\b404\b|not found|not exist/i.test(message);
  const path = isRefused
    ? `credentials.${secret}`
    : isUnknown || provider !== 'powerDNS'
      ? zoneField
      : 'credentials.url';
  return fieldError(path, 'provider', message);
}
