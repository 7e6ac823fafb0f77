// The outbound policy: forbidden addresses of origins. The API checks addresses, and the zone's document carries the
// policy, so that the edge checks resolved names.
import ipaddr from 'ipaddr.js';
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

export type OriginSettings = Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>;
type Settings = OriginSettings;

export const originPolicy = ({ ORIGIN_ALLOW, ORIGIN_DENY }: Settings) => ({
  deny: [...neverPublic, ...ORIGIN_DENY],
  allow: [...ORIGIN_ALLOW],
});

/** The same with an operator's restricted networks, which no exception of the installation allows. */
export const restrictOrigins = ({ ORIGIN_ALLOW, ORIGIN_DENY }: Settings, cidrs: readonly string[]): Settings => ({
  ORIGIN_ALLOW: ORIGIN_ALLOW.flatMap((range) => without(range, cidrs)),
  ORIGIN_DENY: [...ORIGIN_DENY, ...cidrs],
});

export const restrictPolicy = (
  { deny, allow }: { deny: readonly string[]; allow: readonly string[] },
  cidrs: readonly string[],
) => ({ deny: [...deny, ...cidrs], allow: allow.flatMap((range) => without(range, cidrs)) });

/** The parts of a network outside the others. */
function without(range: string, others: readonly string[]): string[] {
  const [address, bits] = ipaddr.parseCIDR(range);
  const overlapping = others.filter((other) => {
    const [network, length] = ipaddr.parseCIDR(other);
    return network.kind() === address.kind() && network.match(address, Math.min(length, bits));
  });
  if (overlapping.length === 0) return [range];
  if (overlapping.some((other) => ipaddr.parseCIDR(other)[1] <= bits)) return [];
  return halvesOf(address.toByteArray(), bits).flatMap((half) => without(half, overlapping));
}

const halvesOf = (bytes: readonly number[], bits: number) =>
  [0, 1].map((bit) => {
    const half = bytes.map((byte, i) =>
      i === bits >> 3 ? (byte & ~(128 >> (bits & 7))) | ((bit * 128) >> (bits & 7)) : byte,
    );
    return `${ipaddr.fromByteArray(half).toString()}/${bits + 1}`;
  });

/** Why an origin is refused, or null. The edge checks names when it resolves them. */
export function originFault(address: string, settings: Settings): ErrorMessage | null {
  if (!isAddress(address)) return /(^|\.)localhost$/.test(address) ? 'this name is not allowed' : null;
  const { deny, allow } = originPolicy(settings);
  const isDenied = embeddedIn(address) !== null || deny.some(liesIn(address));
  return isDenied && !isListed(address, allow) ? 'this address is not allowed' : null;
}

/** The same for nodes, which may be in private networks where the installation allows it. */
export const nodeFault = (ip: string, { NODE_ALLOW, ORIGIN_DENY }: Pick<Env, 'NODE_ALLOW' | 'ORIGIN_DENY'>) =>
  originFault(ip, { ORIGIN_ALLOW: NODE_ALLOW, ORIGIN_DENY });

/** Whether the installation's settings name the address. Such addresses may be used without TLS. */
export const isNamed = (address: string, { ORIGIN_ALLOW }: Settings): boolean => isListed(address, ORIGIN_ALLOW);

const isListed = (address: string, ranges: readonly string[]) => {
  const embedded = embeddedIn(address);
  return ranges.some(liesIn(address)) || (embedded !== null && ranges.some(liesIn(embedded)));
};

/** The IPv4 address embedded in an IPv6 address, as in agent/lua/edge/origin/policy.lua. */
function embeddedIn(address: string): string | null {
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return null;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = parsed.parts;
  const middle = c + d + e;
  const isPlain = a + b + middle === 0 && (f === 0 || f === 0xffff);
  const isTranslated = a === 0x64 && b === 0xff9b && middle + f === 0;
  const isISATAP = f === 0x5efe && (e === 0 || e === 0x200);
  return isPlain || isTranslated || isISATAP ? [g >> 8, g & 255, h >> 8, h & 255].join('.') : null;
}

function liesIn(address: string) {
  const parsed = ipaddr.parse(address);
  return (range: string) => {
    const [network, bits] = ipaddr.parseCIDR(range);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  };
}
