import { isIPv6 } from 'node:net';
import { UsageError } from './command.ts';

const defaultPorts = { http: 80, https: 443, follow: 80 } as const;

/** `192.0.2.1`, `origin.example.com:8080`, `2001:db8::1` or `[2001:db8::1]:8080`. */
export function parseOrigin(text: string, scheme: keyof typeof defaultPorts): { address: string; port: number } {
  const { bracketed, name, digits } =
    /^(?:\[(?<bracketed>[^\]]+)\]|(?<name>[^:]+))(?::(?<digits>\d{1,5}))?$/.exec(text)?.groups ?? {};
  const address = bracketed ?? name ?? text;
  // A bare IPv6 address has several colons, which leave no room for a port.
  if (address === '' || (address.includes(':') && !isIPv6(address)))
    throw new UsageError(`--origin is ADDRESS or ADDRESS:PORT, and not ${text}.`);
  return { address, port: digits === undefined ? defaultPorts[scheme] : Number(digits) };
}
