// Addresses, networks and ranges (`a-b`) as intervals. IPv4 in IPv6 (mapped, NAT64) is IPv4, as at the edge.
import * as z from 'zod';
import { isAddress, noDuplicateIP } from './net.ts';

export interface AddressRange {
  family: 4 | 6;
  first: bigint;
  last: bigint;
}

const MAPPED = 0xffffn << 32n;
const NAT64 = 0x64_ff9bn << 96n;
const WORD = 0xffff_ffffn;
const bitsOf = (family: 4 | 6) => (family === 4 ? 32 : 128);

function numberOf(text: string): { family: 4 | 6; value: bigint } | null {
  if (!isAddress(text)) return null;
  if (!text.includes(':')) return { family: 4, value: quad(text) };
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const tail = dotted ? quad(dotted[2] ?? '') : 0n;
  const plain = dotted ? `${dotted[1]}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}` : text;
  const [head = '', rest] = plain.split('::');
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const missing = rest === undefined ? 0 : 8 - groups(head).length - groups(rest).length;
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(rest)];
  return { family: 6, value: all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) };
}

const quad = (text: string) => text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);

/** Null: no address, network or range. */
export function rangeOf(text: string): AddressRange | null {
  const ends = text.split('-');
  if (ends.length === 2) {
    const [from, to] = ends.map((end) => networkOf(end, false));
    if (!from || !to || from.family !== to.family || from.first > to.first) return null;
    return { family: from.family, first: from.first, last: to.last };
  }
  return ends.length === 1 ? networkOf(text, true) : null;
}

function networkOf(text: string, mayHaveLength: boolean): AddressRange | null {
  const [address = '', length, more] = text.split('/');
  const found = numberOf(address);
  if (!found || more !== undefined || (length !== undefined && (!mayHaveLength || !/^\d{1,3}$/.test(length))))
    return null;
  const bits = bitsOf(found.family);
  const prefix = length === undefined ? bits : Number(length);
  if (prefix > bits) return null;
  const host = BigInt(bits - prefix);
  const first = (found.value >> host) << host;
  return plain({ family: found.family, first, last: first + (1n << host) - 1n });
}

function plain(range: AddressRange): AddressRange {
  if (range.family === 4) return range;
  for (const base of [MAPPED, NAT64])
    if (range.first >= base && range.last <= base + WORD)
      return { family: 4, first: range.first - base, last: range.last - base };
  return range;
}

export const AddressEntry = z
  .string()
  .trim()
  .toLowerCase()
  .max(100)
  .transform((text) => text.replace(/\s*-\s*/, '-'))
  .refine((text) => rangeOf(text) !== null, { message: 'wrong format' });

export const MAX_ADDRESSES = 5000;
export const AddressEntries = z
  .array(AddressEntry)
  .min(1)
  .max(MAX_ADDRESSES)
  .superRefine((list, ctx) => {
    if (new Set(list).size < list.length) noDuplicateIP(list, ctx);
  });
