// The outbound policy: forbidden addresses of origins. The API checks addresses, and the zone's document carries the
// policy, so that the edge checks resolved names.
import ipaddr from 'ipaddr.js';
import { embeddedIPv4 } from '@edgeloom/contract/common/address.ts';
import { isAddress } from '@edgeloom/contract/common/net.ts';
import type { ErrorMessage } from '@edgeloom/contract/messages.ts';
import type { Env } from './env.ts';

/**
 * Loopback, link-local and cloud metadata, private and shared ranges, multicast, 6to4, Teredo and local translation.
 * embeddedIn handles ::/96, ::ffff:0:0/96 and 64:ff9b::/96: earlier nodes' Lua reads these as all of IPv4.
 */
export const neverPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '::ffff:0:0:0/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

/** Where the installation and an operator allow origins. */
export interface OriginSettings extends Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'> {
  /** Not even where ORIGIN_ALLOW has an exception. */
  restrictedNetworks?: readonly string[];
}

/** The installation's part of the policy, for the documents of zones. */
export const originPolicy = ({ ORIGIN_ALLOW, ORIGIN_DENY }: OriginSettings) => ({
  deny: [...neverPublic, ...ORIGIN_DENY],
  allow: [...ORIGIN_ALLOW],
});

/** Why an origin is refused, or null. The edge checks names when it resolves them. */
export function originFault(address: string, settings: OriginSettings): ErrorMessage | null {
  if (!isAddress(address)) return /(^|\.)localhost$/.test(address) ? 'this name is not allowed' : null;
  const { ORIGIN_ALLOW, ORIGIN_DENY, restrictedNetworks = [] } = settings;
  const isDenied = embeddedIn(address) !== null || liesIn(address, neverPublic) || liesIn(address, ORIGIN_DENY);
  const isAllowed = !isListed(address, restrictedNetworks) && (!isDenied || isListed(address, ORIGIN_ALLOW));
  return isAllowed ? null : 'this address is not allowed';
}

/** The same for nodes, which may be in private networks where the installation allows it. */
export const nodeFault = (ip: string, { NODE_ALLOW, ORIGIN_DENY }: Pick<Env, 'NODE_ALLOW' | 'ORIGIN_DENY'>) =>
  originFault(ip, { ORIGIN_ALLOW: NODE_ALLOW, ORIGIN_DENY });

/** Whether the installation's settings name the address. Such addresses may be used without TLS. */
export const isNamed = (address: string, { ORIGIN_ALLOW }: OriginSettings): boolean => isListed(address, ORIGIN_ALLOW);

/** The address, or the IPv4 address in it. */
const isListed = (address: string, networks: readonly string[]) => {
  const embedded = embeddedIn(address);
  return liesIn(address, networks) || (embedded !== null && liesIn(embedded, networks));
};

/** As in agent/lua/edge/origin/policy.lua. */
function embeddedIn(address: string): string | null {
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv6 ? embeddedIPv4(parsed.parts) : null;
}

function liesIn(address: string, networks: readonly string[]): boolean {
  const parsed = ipaddr.parse(address);
  return parsedNetworks(networks).some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  );
}

const parsedLists = new WeakMap<readonly string[], ReturnType<typeof ipaddr.parseCIDR>[]>();

/** Parses a list once, since one call may check the addresses of thousands of origins. */
function parsedNetworks(networks: readonly string[]) {
  const parsed = parsedLists.get(networks) ?? networks.map((network) => ipaddr.parseCIDR(network));
  parsedLists.set(networks, parsed);
  return parsed;
}
