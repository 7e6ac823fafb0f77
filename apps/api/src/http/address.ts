// Where a call comes from, in one spelling for each address: whoever is counted, locked out or let in by it must not
// have two. Proxies may write a port beside it, and a socket that serves both families writes IPv4 as IPv6.
import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

export const addressOf = ({ ip }: Pick<FastifyRequest, 'ip'>): string => addressIn(ip);

/** Of what a trusted proxy or the socket says; what is no address at all is everybody's who has none. */
export function addressIn(text: string): string {
  if (isIPv4(text)) return text;
  const [, inBrackets, withoutPort] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? [];
  const address = inBrackets ?? withoutPort ?? text;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : 'unknown';
}

/** Whoever has one address of IPv6 has the 2^64 around it as well. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`;
}
