// What a redirect's source means and what its target may be: read alike by the schema, the compiler and the console.
import * as z from 'zod';
import { DomainName } from '../common/net.ts';
import type { ErrorMessage } from '../messages.ts';

type Matching = 'exact' | 'prefix';

interface Source {
  /** Null: whatever host is asked. */
  host: string | null;
  /** As the edge sees it: decoded; of a prefix, without a slash at its end. */
  path: string;
  query: string | null;
}

// oxlint-disable-next-line no-control-regex -- these are what may stand in no path
const UNPRINTABLE = /[\u0000-\u001f\u007f\u2028\u2029]/;
const IPv4 = z.ipv4();
const isHost = (name: string) => DomainName.safeParse(name).success || IPv4.safeParse(name).success;

/** Null where it is no path, with or without a host. */
export function readSource(type: Matching, text: string): Source | null {
  const bare = text.replace(/^https?:\/\//i, '');
  const slash = bare.indexOf('/');
  const host = slash > 0 ? bare.slice(0, slash).toLowerCase() : null;
  const [written = '', ...queries] = bare.slice(Math.max(slash, 0)).split('?');
  const query = queries.length > 0 ? queries.join('?') : null;
  const path = decoded(written);
  if (slash < 0 || path === null || path.includes('#') || /\/\/|\/\.\.?(?:\/|$)/.test(path)) return null;
  if (host !== null && (host.startsWith('*') || !isHost(host))) return null;
  if (query !== null && (type === 'prefix' || query === '' || !/^[\x21-\x7e]+$/.test(query))) return null;
  return { host, path: type === 'prefix' ? path.replace(/\/$/, '') : path, query };
}

function decoded(path: string): string | null {
  try {
    const text = decodeURIComponent(path);
    return UNPRINTABLE.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Why a source is refused, or null. */
export const sourceFault = (type: Matching, text: string): ErrorMessage | null =>
  readSource(type, text) ? null : 'wrong format';

/** What finds it at the edge: a path, with a host before and a query behind where it names them. */
export const keyOfSource = ({ host, path, query }: Source) =>
  `${host ?? ''}${path}${query === null ? '' : `?${query}`}`;

const CAPTURE = /\$([1-9])/;
/** `https://host:8080` of a target; nothing of one that is a path. */
const authority = /^https?:\/\/[^/?#]*/i;

/** Why a target is refused, or null. */
export function targetFault(rule: {
  type: string;
  source: string;
  target: string;
  keepRest: boolean;
}): ErrorMessage | null {
  const { type, source, target, keepRest } = rule;
  if (UNPRINTABLE.test(target) || /\s/.test(target)) return 'wrong format';
  const place = authority.exec(target)?.[0];
  if (place === undefined && !/^\/(?![/\\])/.test(target)) return 'enter a path or a URL';
  if (place !== undefined && !isPlace(place)) return 'enter a path or a URL';
  if (type === 'prefix' && keepRest && /[?#]/.test(target)) return 'nothing can follow a query';
  const highest = Math.max(0, ...[...target.matchAll(/\$([1-9])/g)].map(([, n]) => Number(n)));
  if (type === 'regex' && highest > groupsOf(source)) return 'the pattern has no such group';
  return null;
}

function isPlace(place: string): boolean {
  if (place.includes('@') || place.includes('\\') || CAPTURE.test(place) || !URL.canParse(place)) return false;
  const { hostname, port } = new URL(place);
  return hostname !== '' && port !== '0' && !/[^a-z0-9.:[\]-]/.test(hostname);
}

/** Groups that capture. */
const groupsOf = (pattern: string) =>
  (
    pattern
      .replace(/\\./g, '')
      .replace(/\[[^\]]*\]/g, '')
      .match(/\((?!\?)/g) ?? []
  ).length;

/** As it is sent: what no URL holds is encoded, what is encoded stays. Text and the number of a capture in turns. */
export function partsOfTarget(type: string, target: string, keepsRest: boolean): string[] {
  const place = authority.exec(target)?.[0] ?? '';
  const path = target.slice(place.length).replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, (char) => encodeURIComponent(char));
  const text = (place === '' ? '' : new URL(place).origin) + (keepsRest ? path.replace(/\/$/, '') : path);
  return type === 'regex' ? text.split(/\$([1-9])/) : [text];
}

/** How every match of a pattern begins; nothing where that cannot be said. */
export function literalOf(pattern: string): string {
  if (!pattern.startsWith('^') || pattern.includes('|')) return '';
  const plain = /^(?:[A-Za-z0-9/_-]|\\[./-])*/.exec(pattern.slice(1))?.[0] ?? '';
  const next = pattern.slice(1 + plain.length, 2 + plain.length);
  // A repeat is of the last letter, which may then be absent.
  const kept = /[?*{]/.test(next) ? plain.replace(/(?:\\.|[^\\])$/, '') : plain;
  return kept.replaceAll('\\', '');
}
