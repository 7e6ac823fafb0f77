// Creates and verifies tokens like a node: for the tester, for examples, and for signing URLs in TypeScript.
import { isAboutPath } from '../common/paths.ts';
import {
  filled,
  patternOf,
  partsOf,
  signedText,
  textVariables,
  timeOf,
  timeText,
  type Recipe,
  type TextVariable,
} from './token-recipe.ts';
import type { StoredAuth, TokenReason } from './token-auths.ts';

/** A hash or an HMAC, by `node:crypto` or another library. */
export type Digest = (hash: 'md5' | 'sha1' | 'sha256' | 'sha512', text: string, key: string | null) => Uint8Array;

export interface Choice {
  /** Seconds since 1970: the time of signing or of expiry. */
  time: number;
  rand?: string | undefined;
  user?: string | undefined;
  address?: string | undefined;
}

/** The signed URL and header fields. */
export function signUrl(recipe: Recipe, key: string, url: string, choice: Choice, digest: Digest) {
  const asked = new URL(url);
  const query = asked.search.slice(1);
  const { rand = '0', user = '0', time } = choice;
  const values: Record<TextVariable, string> = {
    key,
    path: asked.pathname,
    decodedPath: normalPath(asked.pathname),
    uri: query === '' ? asked.pathname : `${asked.pathname}?${query}`,
    time: timeText(recipe, time),
    rand,
    user,
    address: choice.address ?? '',
    host: asked.hostname,
  };
  const sign = signature(recipe, key, values, digest);
  const token = recipe.parts.map(({ name, format }) => ({ name, value: filled(format, { ...values, sign }) }));
  const [first] = token;
  const pairs = token.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`);
  if (recipe.place === 'path') asked.pathname = `/${first?.value ?? ''}${asked.pathname}`;
  if (recipe.place === 'query') asked.search = [...(query === '' ? [] : [query]), ...pairs].join('&');
  const headers =
    recipe.place === 'header'
      ? token
      : recipe.place === 'cookie'
        ? [{ name: 'Cookie', value: token.map(({ name, value }) => `${name}=${value}`).join('; ') }]
        : [];
  return { url: asked.href, headers, text: signedText(recipe.text, { ...values, key: '•••' }) };
}

/** In the token's encoding. */
function signature(
  recipe: Recipe,
  key: string,
  values: Readonly<Record<TextVariable, string>>,
  digest: Digest,
): string {
  const { algorithm, encoding } = recipe;
  const isHmac = algorithm.startsWith('hmac');
  const bytes = digest(hashOf[algorithm], signedText(recipe.text, { ...values, key }), isHmac ? key : null);
  if (encoding === 'base64' || encoding === 'base64url') {
    const text = btoa(String.fromCharCode(...bytes)).replace(/=+$/, '');
    return encoding === 'base64' ? text : text.replaceAll('+', '-').replaceAll('/', '_');
  }
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return encoding === 'upperHex' ? hex.toUpperCase() : hex;
}

export const hashOf = {
  md5: 'md5',
  sha1: 'sha1',
  sha256: 'sha256',
  sha512: 'sha512',
  hmacMd5: 'md5',
  hmacSha1: 'sha1',
  hmacSha256: 'sha256',
  hmacSha512: 'sha512',
} as const;

export interface Visit {
  host: string;
  /** The requested path and query. */
  target: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  address: string;
  /** Seconds since 1970. */
  now: number;
}

export interface Verdict {
  reason: TokenReason;
  auth: StoredAuth | null;
  /** Remaining validity, or by how much the token is too late or too early. */
  seconds: number | null;
  keyID: string | null;
  hint: 'decodedPath' | 'encodedPath' | 'query' | 'noQuery' | 'case' | 'address' | null;
}

/** The path and the rest of the request without the token. */
interface Left {
  path: string;
  /** As requested. */
  asked: string;
  args: string | null;
}

/** `keyOf`: decrypts a key by its id. */
export function judge(
  auths: readonly StoredAuth[],
  visit: Visit,
  keyOf: (id: string) => string,
  digest: Digest,
): Verdict {
  const [path = '', ...rest] = visit.target.split('?');
  const whole: Left = { path: normalPath(path), asked: path, args: rest.length > 0 ? rest.join('?') : null };
  const verdict = (reason: TokenReason, auth: StoredAuth | null, more: Partial<Verdict> = {}): Verdict => ({
    reason,
    auth,
    seconds: null,
    keyID: null,
    hint: null,
    ...more,
  });
  const on = auths.filter(({ enabled }) => enabled);
  for (const [i, auth] of on.entries()) {
    const found = auth.place === 'path' ? inPath(auth, whole) : { left: whole, read: null };
    if (!isAbout(auth, found.left.path)) continue;
    const before = found.left === whole ? undefined : on.slice(0, i).find((one) => isAbout(one, found.left.path));
    if (before) return verdict('missing', before);
    const { left, read } = found.read ? found : readers[auth.place](auth, found.left, visit);
    if (typeof read === 'string') return verdict(read, auth);
    return verdictOf(auth, { ...visit, ...left }, read ?? {}, keyOf, digest);
  }
  return verdict('free', null);
}

type Values = Readonly<Record<string, string>>;
interface Read {
  left: Left;
  read: Values | 'missing' | 'twice' | 'malformed' | null;
}

function inPath(auth: StoredAuth, left: Left): Read {
  const [part] = auth.parts;
  const { pattern, names } = patternOf(part?.format ?? '', auth);
  const find = (text: string) => new RegExp(`^/${pattern}/`).exec(text);
  const plain = escaped(left.path);
  const inAsked = find(left.asked);
  const found = inAsked ?? find(plain);
  if (!found) return { left, read: null };
  const cut = found[0].length - 1;
  return {
    left: { path: left.path.slice(cut), asked: (inAsked ? left.asked : plain).slice(cut), args: left.args },
    read: valuesOf(names, found),
  };
}

const valuesOf = (names: readonly string[], found: RegExpExecArray): Values =>
  Object.fromEntries(names.map((name, i) => [name, found[i + 1] ?? '']));

const readers: Record<StoredAuth['place'], (auth: StoredAuth, left: Left, visit: Visit) => Read> = {
  path: (_, left) => ({ left, read: 'missing' }),
  query(auth, left) {
    const pairs = (left.args ?? '').split('&').filter((pair) => pair !== '');
    const isPart = (pair: string) => auth.parts.some(({ name }) => name === unescaped(pair.split('=', 1)[0] ?? ''));
    const rest = pairs.filter((pair) => !isPart(pair));
    const given = pairs.filter(isPart).map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return at < 0 ? [unescaped(pair), ''] : [unescaped(pair.slice(0, at)), unescaped(pair.slice(at + 1))];
    });
    return { left: { ...left, args: rest.length > 0 ? rest.join('&') : null }, read: readParts(auth, given) };
  },
  header(auth, left, { headers }) {
    const given = auth.parts.flatMap(({ name }) =>
      [headers[name.toLowerCase()] ?? []].flat().map((value): [string, string] => [name, value]),
    );
    return { left, read: readParts(auth, given) };
  },
  cookie(auth, left, { headers }) {
    const text = [headers['cookie'] ?? []].flat().join('; ');
    const given = [...text.matchAll(/([^=;\s]+)=([^;]*)/g)].map(([, name = '', value = '']): [string, string] => [
      name,
      value.trimEnd(),
    ]);
    return {
      left,
      read: readParts(
        auth,
        given.filter(([name]) => auth.parts.some((part) => part.name === name)),
      ),
    };
  },
};

function readParts(auth: StoredAuth, given: readonly [string, string][]): Read['read'] {
  let values: Values = {};
  if (auth.parts.some(({ name }) => given.filter(([one]) => one === name).length > 1)) return 'twice';
  for (const { name, format } of auth.parts) {
    const value = given.find(([one]) => one === name)?.[1];
    if (value === undefined) return 'missing';
    const { pattern, names } = patternOf(format, auth);
    const found = value.length <= 1024 ? new RegExp(`^${pattern}$`).exec(value) : null;
    if (!found) return 'malformed';
    values = { ...values, ...valuesOf(names, found) };
  }
  return values;
}

function verdictOf(
  auth: StoredAuth,
  visit: Visit & Left,
  read: Values,
  keyOf: (id: string) => string,
  digest: Digest,
): Verdict {
  const from = timeOf(auth, read['time'] ?? '');
  const none = { auth, seconds: null, keyID: null, hint: null };
  if (from === null) return { ...none, reason: 'malformed' };
  const last = from + (auth.timeMeans === 'signed' ? auth.validSeconds : 0) + auth.leewaySeconds;
  if (visit.now > last) return { ...none, reason: 'expired', seconds: visit.now - last };
  if (auth.timeMeans === 'signed' && from > visit.now + auth.leewaySeconds)
    return { ...none, reason: 'early', seconds: from - visit.now - auth.leewaySeconds };
  const uri = visit.args === null ? visit.asked : `${visit.asked}?${visit.args}`;
  const values: Record<TextVariable, string> = {
    key: '',
    path: visit.asked,
    decodedPath: visit.path,
    uri,
    time: read['time'] ?? '',
    rand: read['rand'] ?? '',
    user: read['user'] ?? '',
    address: visit.address,
    host: visit.host,
  };
  const given = auth.encoding === 'hex' ? (read['sign'] ?? '').toLowerCase() : (read['sign'] ?? '');
  const signer = (changed: Partial<typeof values>, recipe: Recipe = auth) =>
    auth.keys.find(({ id }) => signature(recipe, keyOf(id), { ...values, ...changed }, digest) === given)?.id ?? null;
  const keyID = signer({});
  if (keyID !== null) return { ...none, reason: 'good', seconds: last - visit.now, keyID };
  const inText = new Set(partsOf(auth.text, textVariables).filter((_, i) => i % 2 === 1));
  const tries: [NonNullable<Verdict['hint']>, () => string | null][] = [
    [
      'decodedPath',
      () => (inText.has('path') || inText.has('uri') ? signer({ path: visit.path, uri: visit.path }) : null),
    ],
    ['encodedPath', () => (inText.has('decodedPath') ? signer({ decodedPath: visit.asked }) : null)],
    ['query', () => (inText.has('path') ? signer({ path: uri }) : null)],
    ['noQuery', () => (inText.has('uri') ? signer({ uri: visit.asked }) : null)],
    ['case', () => (auth.encoding === 'lowerHex' ? signer({}, { ...auth, encoding: 'upperHex' }) : null)],
    ['address', () => (inText.has('address') ? signer({ address: '' }) : null)],
  ];
  const hint = tries.find(([, works]) => works() !== null)?.[0] ?? null;
  return { ...none, reason: 'signature', hint };
}

/** Whether the entry applies to the path. */
function isAbout({ type, value, except }: Pick<StoredAuth, 'type' | 'value' | 'except'>, path: string): boolean {
  return isAboutPath({ type, value }, path) && !(except !== null && isAboutPath(except, path));
}

const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Encodes a decoded path. */
const escaped = (path: string) =>
  encodeURIComponent(path).replace(/%(?:2F|24|26|2B|2C|3B|3D|3A|40)/g, (code) => decodeURIComponent(code));

/** Normalizes like nginx: decoded, without empty and dot segments. */
export function normalPath(asked: string): string {
  const parts: string[] = [];
  const raw = unescaped(asked).split('/').slice(1);
  for (const [i, part] of raw.entries()) {
    const isLast = i === raw.length - 1;
    if (part === '..') parts.pop();
    if (part === '.' || part === '..') {
      if (isLast) parts.push('');
    } else if (part !== '' || isLast) parts.push(part);
  }
  return `/${parts.join('/')}`;
}
