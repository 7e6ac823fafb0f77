// The client address of a call in one normal form, since rate limits, lockouts and allow lists compare it. Proxies may
// append a port, and dual-stack sockets write IPv4 as IPv6.
import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

export const addressOf = ({ ip }: Pick<FastifyRequest, 'ip'>): string => addressIn(ip);

/** Reads the address that a trusted proxy or the socket gives. All invalid addresses share one value. */
export function addressIn(text: string): string {
  if (isIPv4(text)) return text;
  const [, inBrackets, withoutPort] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? [];
  const address = inBrackets ?? withoutPort ?? text;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : 'unknown';
}

/** A client with one IPv6 address usually has its whole /64. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`;
}
