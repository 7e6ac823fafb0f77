// The blocked network of an address: itself for IPv4, the /64 for IPv6, within which a visitor can choose addresses
// freely.
import { byte, groupsOf, isIPv4, mappedIPv4 } from '../common/address.ts';

/** The canonical spelling. Null: no address. */
export function networkOf(address: string): string | null {
  const text = address.trim().toLowerCase();
  if (!text.includes(':')) return isIPv4(text) ? text : null;
  const groups = groupsOf(text.replace(/\/64$/, ''));
  if (groups === null) return null;
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return mappedIPv4(groups) ?? `${prefix.join(':')}::/64`;
}

const written = new RegExp(
  `^(?:${byte}(?:\\.${byte}){3}|(?:0|[1-9a-f][0-9a-f]{0,3})(?::(?:0|[1-9a-f][0-9a-f]{0,3})){3}::/64)$`,
);
/** Whether the text is in canonical spelling. */
export const isNetwork = (text: string): boolean => written.test(text);
