// Refuses URLs of tenants that the outbound policy would refuse later, where they are entered.
import type { Env } from './env.ts';
import { failAt } from './fail.ts';
import { hostFault } from './outbound-fetch.ts';

/** Names are checked again when they are resolved. Without ORIGIN_ALLOW, each of them needs TLS. */
export function assertPermittedUrl(env: Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>, url: string) {
  const { hostname, protocol } = new URL(url);
  const isEncrypted = protocol === 'https:';
  const fault = hostFault(hostname, isEncrypted, env);
  if (fault) failAt('url', 'policy', fault);
  if (!isEncrypted && env.ORIGIN_ALLOW.length === 0) failAt('url', 'policy', 'https only');
}
