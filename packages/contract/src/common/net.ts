// Names and addresses as users type them.
import * as z from 'zod';
import { canonicalNetwork } from './address.ts';

const label = '(?!-)[a-z0-9_-]{1,63}(?<!-)';
const hostname = new RegExp(`^(?=.{1,253}$)(${label}\\.)*(?!-)[a-z0-9-]{1,63}(?<!-)$`);
const domain = new RegExp(`^(?=.{1,253}$)(\\*\\.)?(${label}\\.)+(?=.*[a-z])(?!-)[a-z0-9-]{2,63}(?<!-)$`);

/** A requested name, exact or with one wildcard label (`*.example.com`). Stored in lower case. */
export const DomainName = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .refine((name) => domain.test(name), { message: 'enter a domain name' });

/**
 * A name of another script in punycode, as in DNS: `xn--r8jz45g.jp` for `例え.jp` (UTS 46). Wildcards and ports stay.
 * Other texts stay as they are.
 */
export function asciiName(text: string): string {
  const [, star = '', name = '', port = ''] =
    /^(\*{1,2}\.)?((?:[A-Za-z0-9._-]|\P{ASCII})+)(:\d{1,5})?$/u.exec(text) ?? [];
  if (/^\p{ASCII}*$/u.test(name) || !URL.canParse(`http://${name}`)) return text;
  const { hostname } = new URL(`http://${name}`);
  return isAddress(hostname) ? text : star + hostname + port;
}

/** The same within an http or https URL. Other characters beyond ASCII become escapes, as browsers send them. */
export function asciiURL(text: string): string {
  const [, scheme, host = '', rest = ''] = /^(https?:\/\/)([^/?#]*)(.*)$/su.exec(text) ?? [];
  if (scheme === undefined || /^\p{ASCII}*$/u.test(text)) return text;
  return scheme + asciiName(host) + rest.toWellFormed().replace(/\P{ASCII}+/gu, encodeURIComponent);
}

/** A domain name that a user enters, in any script. Stored in punycode. */
export const DomainNameInput = z
  .string()
  .trim()
  .toLowerCase()
  .overwrite(asciiName)
  .max(253)
  .refine((name) => domain.test(name), { message: 'enter a domain name' });

const IPv4 = z.ipv4();
const IPv6 = z.ipv6();
/** Whether the text is an address rather than a name. */
export const isAddress = (text: string) => IPv4.safeParse(text).success || IPv6.safeParse(text).success;

const CIDRv4 = z.cidrv4();
const CIDRv6 = z.cidrv6();
/** An IPv4 or IPv6 network. An address is a network of one. */
export const Cidr = z
  .string()
  .trim()
  .toLowerCase()
  .max(50)
  .refine((text) => isAddress(text) || CIDRv4.safeParse(text).success || CIDRv6.safeParse(text).success, {
    message: 'wrong format',
  });

/** `{ip}/0` means every address of its family. */
export const isEverything = (cidr: string) => /\/0+$/.test(cidr);

/** Rejects an entry that repeats another one in any spelling, with its index in the path. */
export const noDuplicateIP = (list: readonly string[], ctx: z.RefinementCtx) => {
  const seen = new Set<string>();
  for (const [i, entry] of list.entries()) {
    const network = canonicalNetwork(entry);
    if (seen.has(network)) ctx.addIssue({ code: 'custom', path: [i], message: 'duplicate IP' });
    seen.add(network);
  }
};

/** An address or a host name. A numeric last label is a malformed address. */
export const HostAddress = z
  .string()
  .trim()
  .toLowerCase()
  .overwrite(asciiName)
  .max(253)
  .refine((text) => isAddress(text) || (hostname.test(text) && !/(^|\.)[0-9]+$/.test(text)), {
    message: 'wrong format',
  });
/** A Host or SNI value: a name or an address, with an optional port. */
export const HostHeader = z
  .string()
  .trim()
  .toLowerCase()
  .overwrite(asciiName)
  .max(260)
  .regex(/^[a-z0-9._-]+(:[0-9]{1,5})?$|^\[[0-9a-f:.]+\](:[0-9]{1,5})?$/, { message: 'wrong format' });
