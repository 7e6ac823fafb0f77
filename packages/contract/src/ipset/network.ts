// The blocked network of an address: itself for IPv4, the /64 for IPv6, within which a visitor can choose addresses
// freely.

/** The canonical spelling. Null: no address. */
export function networkOf(address: string): string | null {
  const text = address.trim().toLowerCase();
  if (!text.includes(':')) return isIPv4(text) ? text : null;
  const groups = groupsOf(text.replace(/\/64$/, ''));
  if (groups === null) return null;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const carriesIPv4 = a + b + c + d + e === 0 && f === 0xffff;
  if (carriesIPv4) return [g >> 8, g & 255, h >> 8, h & 255].join('.');
  return `${[a, b, c, d].map((group) => group.toString(16)).join(':')}::/64`;
}

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);
const isIPv4 = (text: string) => ipv4.test(text);

function groupsOf(text: string): number[] | null {
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

const written = new RegExp(
  `^(?:${byte}(?:\\.${byte}){3}|(?:0|[1-9a-f][0-9a-f]{0,3})(?::(?:0|[1-9a-f][0-9a-f]{0,3})){3}::/64)$`,
);
/** Whether the text is in canonical spelling. */
export const isNetwork = (text: string): boolean => written.test(text);
