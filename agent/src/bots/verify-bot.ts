// Forward-confirmed reverse DNS: the name of the address lies in a domain of the bot's vendor, and has this address.
// The owner of an address can give it any name, so the name alone proves nothing.
import { Resolver } from 'node:dns/promises';
import { canonicalNetwork, groupsOf, isIPv4 } from '@edgeloom/contract/common/address.ts';
import type { BotCandidate } from '../nginx/admin.ts';
import { isAbsent } from '../origins/addresses.ts';

/** Null: DNS did not respond, so nothing is known. Never rejects. */
export type VerifyBot = (candidate: Pick<BotCandidate, 'address' | 'suffixes'>) => Promise<boolean | null>;

export function createVerifyBot(servers: readonly string[]): VerifyBot {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers(servers);
  return async ({ address, suffixes }) => {
    try {
      const names = await resolver.resolvePtr(reverseName(address)).catch(noneIfAbsent);
      // Two queries at most for one candidate, however many names the address has.
      const name = names.find(isWithin(suffixes));
      if (name === undefined) return false;
      const found = await (isIPv4(address) ? resolver.resolve4(name) : resolver.resolve6(name)).catch(noneIfAbsent);
      return found.some((one) => canonicalNetwork(one) === canonicalNetwork(address));
    } catch {
      return null;
    }
  };
}

/** At a label: neither `evilgooglebot.com` nor `googlebot.com.evil.example` is within `googlebot.com`. */
const isWithin = (suffixes: readonly string[]) => (name: string) =>
  suffixes.some((suffix) => `.${name.toLowerCase().replace(/\.$/, '')}`.endsWith(`.${suffix}`));

function noneIfAbsent(error: unknown): string[] {
  if (isAbsent(error)) return [];
  throw error;
}

export function reverseName(address: string): string {
  if (isIPv4(address)) return `${address.split('.').toReversed().join('.')}.in-addr.arpa`;
  const digits = (groupsOf(address) ?? []).map((group) => group.toString(16).padStart(4, '0')).join('');
  return `${[...digits].toReversed().join('.')}.ip6.arpa`;
}
