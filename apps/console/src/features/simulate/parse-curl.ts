// Reads a pasted curl command as the request that it would send. It is never run.
import { base64 } from '../../lib/base64.ts';
import { PasteError } from './paste-error.ts';
import { shellWords } from './shell-words.ts';

export interface ParsedRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string;
}

/** Options by what they do here. Values of ignored options are skipped. */
const LONG: Readonly<Record<string, string>> = {
  request: 'X',
  header: 'H',
  data: 'd',
  'data-ascii': 'd',
  'data-binary': 'd',
  'data-raw': 'raw',
  'data-urlencode': 'urlencode',
  json: 'json',
  form: 'F',
  'form-string': 'formString',
  get: 'G',
  head: 'I',
  url: 'url',
  user: 'u',
  'user-agent': 'A',
  referer: 'e',
  cookie: 'b',
  compressed: 'compressed',
  'upload-file': 'T',
  config: 'K',
};
const WITHOUT_VALUE = ['G', 'I', 'compressed'];
const IGNORED = new Set(
  `anyauth basic digest disable fail fail-with-body globoff http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3
  include insecure ipv4 ipv6 junk-session-cookies location location-trusted negotiate netrc no-buffer no-keepalive
  no-progress-meter ntlm parallel path-as-is progress-bar remote-name remote-header-name show-error show-headers silent
  ssl-reqd tcp-nodelay tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 verbose 0 1 2 3 4 6 a f g i j J k l L n N O q s S v Z #`.split(
    /\s+/,
  ),
);
const IGNORED_WITH_VALUE = new Set(
  `cacert capath cert cert-type ciphers connect-timeout connect-to cookie-jar dump-header interface key key-type
  limit-rate max-redirs max-time noproxy output pass pinnedpubkey preproxy proxy proxy-header proxy-user resolve retry
  retry-delay retry-max-time socks5 socks5-hostname speed-limit speed-time stderr tls-max trace trace-ascii unix-socket
  write-out c C D E m o P U w x Y y`.split(/\s+/),
);
const MEANT = new Set('XHdFGIuAebTK');

type Option = [action: string, value: string, written: string];

/** The options in order, with their values. A word that is no option is a URL. */
function optionsOf(words: readonly string[]): Option[] {
  const options: Option[] = [];
  const left = [...words];
  const take = (written: string) => left.shift() ?? fail('value', written);
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word.startsWith('--') && word.length > 2) {
      const name = word.slice(2);
      const action = Object.hasOwn(LONG, name) ? LONG[name] : undefined;
      if (action !== undefined) options.push([action, WITHOUT_VALUE.includes(action) ? '' : take(word), word]);
      else if (IGNORED_WITH_VALUE.has(name)) take(word);
      else if (!IGNORED.has(name) && !name.startsWith('no-')) fail('option', word);
    } else if (word.startsWith('-') && word.length > 1) options.push(...shortOptions(word, take));
    else options.push(['url', word, word]);
  }
  return options;
}

/** Letters in one word, such as `-sSXPOST`. The first with a value takes the rest of the word, or the next word. */
function shortOptions(word: string, take: (written: string) => string): Option[] {
  const options: Option[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    const written = `-${letter}`;
    if (IGNORED.has(letter)) continue;
    if (WITHOUT_VALUE.includes(letter)) options.push([letter, '', written]);
    else {
      const isMeant = MEANT.has(letter);
      if (!isMeant && !IGNORED_WITH_VALUE.has(letter)) fail('option', written);
      const value = word.slice(at + 1) || take(written);
      return isMeant ? [...options, [letter, value, written]] : options;
    }
  }
  return options;
}

const fail = (...reason: ConstructorParameters<typeof PasteError>): never => {
  throw new PasteError(...reason);
};

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const BOUNDARY = '------------------------simulated';

const valuesOf = (options: readonly Option[], action: string) =>
  options.flatMap(([one, value]) => (one === action ? [value] : []));
const has = (options: readonly Option[], action: string) => options.some(([one]) => one === action);

export function parseCurl(command: string): ParsedRequest {
  const options = optionsOf(shellWords(command.replace(/^\s*\$\s+/, '')).slice(1));
  for (const [action, value, written] of options) if (readsFile(action, value)) fail('file', written);
  const [url = fail('noURL'), second] = valuesOf(options, 'url');
  if (second !== undefined) fail('secondURL');
  const content = contentOf(options);
  const isInQuery = has(options, 'G');
  const sent = isInQuery ? null : content;
  const place = placeOf(url, isInQuery && content !== null ? content.body : '');
  return {
    method: valuesOf(options, 'X').at(-1) ?? (has(options, 'I') ? 'HEAD' : sent ? 'POST' : 'GET'),
    url: place.url,
    headers: headersOf(valuesOf(options, 'H'), defaultHeaders(options, place.user, sent?.type)),
    body: sent?.body ?? '',
  };
}

/** Null without data. */
function contentOf(options: readonly Option[]): { type: string; body: string } | null {
  const parts = options.flatMap(([action, value]) =>
    action === 'F' || action === 'formString' ? [partOf(value, action === 'F')] : [],
  );
  if (parts.length > 0)
    return { type: `multipart/form-data; boundary=${BOUNDARY}`, body: `${parts.join('')}--${BOUNDARY}--\r\n` };
  const body = dataOf(options);
  return body === null ? null : { type: has(options, 'json') ? JSON_TYPE : FORM, body };
}

/** The headers that curl sends unless `-H` replaces them. */
function defaultHeaders(options: readonly Option[], userOfUrl: string | undefined, type: string | undefined) {
  const user = valuesOf(options, 'u').at(-1) ?? userOfUrl;
  const headers: [string, string | undefined][] = [
    ['User-Agent', valuesOf(options, 'A').at(-1) ?? 'curl/8.14.1'],
    ['Accept', has(options, 'json') ? JSON_TYPE : '*/*'],
    ['Accept-Encoding', has(options, 'compressed') ? 'deflate, gzip, br, zstd' : undefined],
    ['Authorization', user === undefined ? undefined : `Basic ${base64(new TextEncoder().encode(user))}`],
    [
      'Referer',
      valuesOf(options, 'e')
        .at(-1)
        ?.replace(/;auto$/, ''),
    ],
    ['Cookie', valuesOf(options, 'b').join('; ')],
    ['Content-Type', type],
  ];
  return headers;
}

function readsFile(action: string, value: string): boolean {
  if (action === 'd' || action === 'json' || action === 'H') return value.startsWith('@');
  if (action === 'F') return /^[^=]*=[@<]/.test(value);
  if (action === 'urlencode') return /^[^=]*@/.test(value);
  if (action === 'b') return !value.includes('=');
  return action === 'T' || action === 'K';
}

/** Null without data. */
function dataOf(options: readonly Option[]): string | null {
  const pieces = options.flatMap(([action, value]) => {
    if (action === 'd' || action === 'raw') return [{ text: value, isJson: false }];
    if (action === 'json') return [{ text: value, isJson: true }];
    return action === 'urlencode' ? [{ text: urlEncoded(value), isJson: false }] : [];
  });
  if (pieces.length === 0) return null;
  return pieces.map(({ text, isJson }, i) => (i === 0 || isJson ? text : `&${text}`)).join('');
}

/** `name=content` or `content`, of which only the content is encoded. */
function urlEncoded(value: string): string {
  const [, name = '', content = value] = /^([^=]*)=([^]*)$/.exec(value) ?? [];
  const encoded = encodeURIComponent(content.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return name === '' ? encoded : `${name}=${encoded}`;
}

/** A field of a multipart form. Its text may end with a type, unless it comes from --form-string. */
function partOf(value: string, mayHaveType: boolean): string {
  const [, name = '', rest = ''] = /^([^=]*)=([^]*)$/.exec(value) ?? [];
  const [, text = rest, type] = (mayHaveType && /^([^;]*);\s*type=([^;]+)/.exec(rest)) || [];
  const typeLine = type === undefined ? '' : `Content-Type: ${type.trim()}\r\n`;
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n${typeLine}\r\n${text}\r\n`;
}

/** `Name: value` replaces curl's own header, `Name:` removes it, and `Name;` has no value. */
function headersOf(lines: readonly string[], defaults: readonly [string, string | undefined][]): [string, string][] {
  const written = lines.flatMap((line) => {
    const [all, name = '', text] = /^([^:]+?)(?:;\s*|:([^]*))$/.exec(line) ?? [];
    return all === undefined ? [] : [{ name: name.trim(), value: text?.trim() ?? '', isRemoved: text?.trim() === '' }];
  });
  const names = new Set(written.map(({ name }) => name.toLowerCase()));
  const own = defaults.flatMap(([name, value = '']): [string, string][] =>
    value === '' || names.has(name.toLowerCase()) ? [] : [[name, value]],
  );
  const others = written.flatMap(({ name, value, isRemoved }): [string, string][] =>
    isRemoved ? [] : [[name, value]],
  );
  return [...own, ...others];
}

function placeOf(text: string, query: string): { url: string; user: string | undefined } {
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const [, scheme = '', authority = '', path = '', ownQuery = ''] =
    /^([^/]+\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?/.exec(whole) ?? [];
  const at = authority.lastIndexOf('@');
  const added = query === '' ? '' : `${ownQuery === '' ? '?' : '&'}${query}`;
  return {
    url: `${scheme}${authority.slice(at + 1)}${path === '' ? '/' : path}${ownQuery}${added}`,
    user: at < 0 ? undefined : decoded(authority.slice(0, at)),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
