// The firewall of a zone's nodes, enforced by their kernels before nginx.
import * as z from 'zod';
import { Cidr, isEverything, noDuplicateIP } from '../common/net.ts';

/** Rejects a network that covers a large part of the internet, unless it is `/0`. */
const isTooWide = (cidr: string) => {
  const [address = '', bits] = cidr.split('/');
  return bits !== undefined && !isEverything(cidr) && Number(bits) < (address.includes(':') ? 16 : 8);
};
/**
 * Rejects many networks that together cover half of the internet. No gate checks an operator's lists. IPv6 uses
 * 2000::/3 only.
 */
export const isHalf = (networks: readonly string[]) => {
  const part = { 4: 0, 6: 0 };
  for (const network of new Set(networks.filter((one) => !isEverything(one)))) {
    const [address = '', bits] = network.split('/');
    if (address.includes(':')) part[6] += 2 ** (3 - Number(bits ?? 128));
    else part[4] += 2 ** -Number(bits ?? 32);
  }
  return Math.max(part[4], part[6]) >= 0.5;
};
export const Network = Cidr.refine((cidr) => !isTooWide(cidr), { message: 'wrong format' });
export const MAX_NETWORKS = 5000;
const Networks = z.array(Network).max(MAX_NETWORKS);

/** The risk score from which networks are dropped. A higher level drops fewer. */
export const riskLevels = [25, 50, 75, 100] as const;
export const FirewallLevel = z.literal([0, ...riskLevels]);

export const ZoneFirewall = z.object({
  level: FirewallLevel.describe('0: nobody is dropped for the risk score; else those of this score and higher'),
  whitelist: Networks.describe('Let in whatever else says: addresses and networks'),
  blacklist: Networks.refine((networks) => !isHalf(networks), { message: 'half of all addresses' }).describe(
    'Whose packets to the ports of the zone are dropped: addresses and networks; in sum less than half of all there are',
  ),
  synProtection: z.boolean().describe('An address opens 200 connections a second at most'),
});
/** The input of an operator. Lists that were stored earlier may hold an address twice. */
export const ZoneFirewallInput = ZoneFirewall.extend({
  whitelist: ZoneFirewall.shape.whitelist.superRefine(noDuplicateIP),
  blacklist: ZoneFirewall.shape.blacklist.superRefine(noDuplicateIP),
});
/** The effect of the levels on a zone's nodes. */
export const FirewallLevels = z.object({
  version: z.string().nullable().describe('Of the risk pack that most of them have; null: none has one'),
  nodes: z.int().describe('That have it'),
  of: z.int(),
  levels: z
    .array(z.object({ level: z.int(), networks: z.int() }))
    .nullable()
    .describe('How many networks each drops; null: that pack is not in the store any more'),
  newest: z.string().nullable().describe('In the store'),
});
export type FirewallLevels = z.output<typeof FirewallLevels>;
export type FirewallLevel = z.output<typeof FirewallLevel>;
export type ZoneFirewall = z.output<typeof ZoneFirewall>;

export const open: ZoneFirewall = { level: 0, whitelist: [], blacklist: [], synProtection: false };
export const isOpen = ({ level, blacklist, synProtection }: ZoneFirewall) =>
  level === 0 && blacklist.length === 0 && !synProtection;
