// Sources and targets of redirects, as interpreted by the schema, the compiler and the console.
import * as z from 'zod';
import { asciiName, DomainName } from '../common/net.ts';
import { hasStrayPercent, pathError, pathKey } from '../common/paths.ts';
import type { ErrorMessage } from '../messages.ts';

type Matching = 'exact' | 'prefix';

interface Source {
  /** Null: any host. */
  host: string | null;
  /** As the edge looks it up (pathKey). A prefix has no trailing slash. */
  path: string;
  query: string | null;
}

// oxlint-disable-next-line no-control-regex -- a path must not contain these
const UNPRINTABLE = /[\u0000-\u001f\u007f\u2028\u2029]/;
const IPv4 = z.ipv4();
const isHost = (name: string) => DomainName.safeParse(name).success || IPv4.safeParse(name).success;

/** As browsers send it. */
const escapedQuery = (query: string) => query.toWellFormed().replace(/\P{ASCII}+/gu, encodeURIComponent);

/** Parses a path with an optional host. Null: invalid. */
export function readSource(type: Matching, text: string): Source | null {
  const bare = text.replace(/^https?:\/\//i, '');
  const slash = bare.indexOf('/');
  const host = slash > 0 ? asciiName(bare.slice(0, slash)).toLowerCase() : null;
  const [written = '', ...queries] = bare.slice(Math.max(slash, 0)).split('?');
  const query = queries.length > 0 ? escapedQuery(queries.join('?')) : null;
  const path = pathKey(written);
  if (slash < 0 || hasStrayPercent(written) || UNPRINTABLE.test(path) || path.includes('#')) return null;
  if (/\/\/|\/\.\.?(?:\/|$)/.test(path)) return null;
  if (host !== null && (host.startsWith('*') || !isHost(host))) return null;
  if (query !== null && (type === 'prefix' || query === '' || !/^[\x21-\x7e]+$/.test(query))) return null;
  return { host, path: type === 'prefix' ? path.replace(/\/$/, '') : path, query };
}

/** Error of a source, or null. */
export function sourceFault(type: Matching, text: string): ErrorMessage | null {
  const [written = ''] = text.replace(/^(?:https?:\/\/)?[^/?#]*(?=\/)/i, '').split('?');
  return pathError(written, 'whole', 'any') ?? (readSource(type, text) ? null : 'wrong format');
}

/** Lookup key at the edge: host, path and query, without those that the source lacks. */
export const keyOfSource = ({ host, path, query }: Source) =>
  `${host ?? ''}${path}${query === null ? '' : `?${query}`}`;

const CAPTURE = /\$([1-9])/;
/** Matches scheme and authority of a target: `https://host:8080`. A path does not match. */
const authority = /^https?:\/\/[^/?#]*/i;

/** Error of a target, or null. */
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

/** Number of capturing groups. */
const groupsOf = (pattern: string) =>
  (
    pattern
      .replace(/\\./g, '')
      .replace(/\[[^\]]*\]/g, '')
      .match(/\((?!\?)/g) ?? []
  ).length;

/** The Location value as alternating text and capture numbers. Invalid URL characters are encoded; escapes stay. */
export function partsOfTarget(type: string, target: string, keepsRest: boolean): string[] {
  const place = authority.exec(target)?.[0] ?? '';
  const path = target.slice(place.length).replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, (char) => encodeURIComponent(char));
  const text = (place === '' ? '' : new URL(place).origin) + (keepsRest ? path.replace(/\/$/, '') : path);
  return type === 'regex' ? text.split(/\$([1-9])/) : [text];
}

/** The literal prefix of all matches of a pattern. Empty if there is no certain one. */
export function literalOf(pattern: string): string {
  if (!pattern.startsWith('^') || pattern.includes('|')) return '';
  const plain = /^(?:[A-Za-z0-9/_-]|\\[./-])*/.exec(pattern.slice(1))?.[0] ?? '';
  const next = pattern.slice(1 + plain.length, 2 + plain.length);
  // A repeat applies to the last character, which may then be absent.
  const certain = /[?*{]/.test(next) ? plain.replace(/(?:\\.|[^\\])$/, '') : plain;
  return certain.replaceAll('\\', '');
}
