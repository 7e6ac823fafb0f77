// IPv4 and IPv6 addresses in any spelling.

export const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);
export const isIPv4 = (text: string) => ipv4.test(text);

/** The eight groups of an IPv6 address. Null: none. */
export function groupsOf(text: string): number[] | null {
  const colon = text.lastIndexOf(':');
  const tail = text.slice(colon + 1);
  if (tail.includes('.')) {
    if (!isIPv4(tail)) return null;
    const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number);
    return groupsOf(`${text.slice(0, colon)}:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
  }
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [before = [], behind = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  if (![...before, ...behind].every((group) => /^[0-9a-f]{1,4}$/.test(group))) return null;
  const gap = 8 - before.length - behind.length;
  if (halves.length === 1 ? gap !== 0 : gap < 1) return null;
  return [...before, ...Array.from({ length: gap }, () => '0'), ...behind].map((group) => Number.parseInt(group, 16));
}

/** The IPv4 address within a mapped one (`::ffff:203.0.113.7`). Null: another one. */
export function mappedIPv4(groups: readonly number[]): string | null {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  return a + b + c + d + e === 0 && f === 0xffff ? [g >> 8, g & 255, h >> 8, h & 255].join('.') : null;
}

/**
 * The IPv4 address within a compatible (::/96), mapped (::ffff:0:0/96), translated (64:ff9b::/96) or ISATAP address.
 * Null: none.
 */
export function embeddedIPv4(groups: readonly number[]): string | null {
  if (groups.length !== 8) return null;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const middle = c + d + e;
  const isPlain = a + b + middle === 0 && (f === 0 || f === 0xffff);
  const isTranslated = a === 0x64 && b === 0xff9b && middle + f === 0;
  const isISATAP = f === 0x5efe && (e === 0 || e === 0x200);
  return isPlain || isTranslated || isISATAP ? [g >> 8, g & 255, h >> 8, h & 255].join('.') : null;
}

/**
 * The same text for each spelling of an address or network: with its length, and without the bits after it. Any other
 * text is returned as it is.
 */
export function canonicalNetwork(text: string): string {
  const [address = '', length, ...rest] = text.trim().toLowerCase().split('/');
  const groups = isIPv4(address) ? groupsOf(`::ffff:${address}`) : address.includes(':') ? groupsOf(address) : null;
  if (groups === null || rest.length > 0 || !/^\d{0,3}$/.test(length ?? '')) return text;
  // IPv4 is a part of IPv6 here, so that mapped addresses need no case of their own.
  const bits = length === undefined ? 128 : Number(length) + (isIPv4(address) ? 96 : 0);
  const masked = groups.map((group, i) => group & (0xffff << (16 - Math.min(Math.max(bits - i * 16, 0), 16))) & 0xffff);
  return `${masked.map((group) => group.toString(16)).join(':')}/${bits}`;
}
