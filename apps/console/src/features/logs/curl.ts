import type { LogRow } from './log-row.ts';

type Request = Pick<LogRow, 'method' | 'scheme' | 'host' | 'port' | 'uri' | 'args' | 'userAgent' | 'referer'>;

/** A shell word. Nothing is special within single quotes except the quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Encodes what is not printable ASCII, so that a pasted command has no control characters, and more. */
const encoded = (text: string, more: RegExp) =>
  text
    .toWellFormed()
    .split(more)
    .map((part, i) => (i % 2 === 1 ? encodeURIComponent(part) : part.replace(/[^\x21-\x7e]/gu, encodeURIComponent)))
    .join('');

/** Removes control characters and characters that change the direction of text. */
const plain = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');

const isUsualPort = (scheme: string, port: number) => port === (scheme === 'https' ? 443 : 80);
/** `shop.glow.tw:8443`. */
export const hostAndPort = ({ scheme, host, port }: Pick<Request, 'scheme' | 'host' | 'port'>) =>
  isUsualPort(scheme, port) ? host : `${host}:${port}`;

/** Whether the logged path has escapes: the bytes of one that is not UTF-8. Other paths are logged decoded. */
function hasBytes(path: string): boolean {
  try {
    decodeURIComponent((path.match(/%[89A-F][0-9A-F]/g) ?? []).join(''));
    return false;
  } catch {
    return /^[\0-\x7f]*$/.test(path);
  }
}

/** A command that sends the request again, without cookies and body, which are not logged. */
export function curlOf(row: Request): string {
  const { method, scheme, uri, args, userAgent, referer } = row;
  const path = hasBytes(uri) ? encoded(uri, /([?#]|%(?![89A-F][0-9A-F]))/) : encoded(uri, /([%?#])/);
  const query = args === '' ? '' : `?${encoded(args, /(#)/)}`;
  const url = `${scheme}://${encoded(hostAndPort(row), /([/?#@])/)}${path}${query}`;
  const verb = method === 'GET' ? '' : method === 'HEAD' ? ' --head' : ` --request ${quoted(plain(method))}`;
  const headers = [
    ['User-Agent', userAgent],
    ['Referer', referer],
  ].flatMap(([name, value = '']) => (value === '' ? [] : [` \\\n  --header ${quoted(`${name}: ${plain(value)}`)}`]));
  return `curl --globoff --path-as-is${verb} ${quoted(url)}${headers.join('')}`;
}
