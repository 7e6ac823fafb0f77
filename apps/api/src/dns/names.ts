// Canonical names and values: full ASCII names without a final dot, texts without quotes.
import { asciiName } from '@edgeloom/contract/common/net.ts';
import ipaddr from 'ipaddr.js';
import * as z from 'zod';

/** LUA exists at PowerDNS only: a program that answers for other types. */
export const RecordType = z.enum(['A', 'AAAA', 'CNAME', 'TXT', 'LUA']);
export type RecordType = z.output<typeof RecordType>;

/** A name relative to its zone, as providers want it. */
export const withinZone = (zone: string, name: string): string =>
  name === zone ? '@' : name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
export const fullName = (zone: string, within: string): string =>
  within === '@' || within === '' ? zone : plainName(`${within}.${zone}`);

export const plainName = (name: string): string => asciiName(name.replace(/\.$/, '').toLowerCase());
export const withDot = (name: string): string => `${name.replace(/\.$/, '')}.`;

/** Equal values become equal text. */
export function plainValue(type: RecordType, value: string): string {
  if (type === 'CNAME') return plainName(value);
  if (type === 'AAAA' && ipaddr.IPv6.isValid(value)) return ipaddr.IPv6.parse(value).toRFC5952String();
  return value;
}

/** In zone file format: quoted strings of at most 255 bytes. */
export function quoted(text: string): string {
  const bytes = Buffer.from(text);
  const strings: string[] = [];
  for (let start = 0; start < bytes.length || start === 0; start += 255)
    strings.push(
      `"${bytes
        .subarray(start, start + 255)
        .toString('latin1')
        .replace(/["\\]/g, '\\$&')
        .replace(/[^ -~]/g, escaped)}"`,
    );
  return strings.join(' ');
}
const escaped = (letter: string) => `\\${String(letter.charCodeAt(0)).padStart(3, '0')}`;

export function unquoted(content: string): string {
  const strings = content.match(/"(?:[^"\\]|\\.)*"/gs) ?? [content];
  const inner = strings.map((one) => one.replace(/^"|"$/g, ''));
  const bytes = inner
    .join('')
    .replace(/\\(\d{3}|.)/gs, (_, code: string) => (code.length === 3 ? String.fromCharCode(Number(code)) : code));
  const isBytes = [...bytes].every((letter) => letter.charCodeAt(0) < 256);
  return isBytes ? Buffer.from(bytes, 'latin1').toString() : bytes;
}
