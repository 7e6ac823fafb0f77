// Whom the nodes of a zone let in at all, decided by their kernels before nginx hears of it.
import * as z from 'zod';
import { Cidr } from '../common/net.ts';

/** A list of half the internet is a slip of the hand. */
const isTooWide = (cidr: string) => {
  const [address = '', bits] = cidr.split('/');
  return bits !== undefined && Number(bits) < (address.includes(':') ? 16 : 8);
};
export const Network = Cidr.refine((cidr) => !isTooWide(cidr), { message: 'wrong format' });
const Networks = z.array(Network).max(5000);

export const ZoneFirewall = z.object({
  whitelist: Networks.describe('Let in whatever else says: addresses and networks'),
  blacklist: Networks.describe('Whose packets to the ports of the zone are dropped: addresses and networks'),
  synProtection: z.boolean().describe('An address opens 200 connections a second at most'),
});
export type ZoneFirewall = z.output<typeof ZoneFirewall>;

export const open: ZoneFirewall = { whitelist: [], blacklist: [], synProtection: false };
export const isOpen = ({ blacklist, synProtection }: ZoneFirewall) => blacklist.length === 0 && !synProtection;
