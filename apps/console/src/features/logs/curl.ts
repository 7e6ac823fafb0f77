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

/** A command that sends the request again, without cookies and body, which are not logged. */
export function curlOf(row: Request): string {
  const { method, scheme, uri, args, userAgent, referer } = row;
  // The logged path is decoded.
  const path = encoded(uri, /([%?#])/);
  const query = args === '' ? '' : `?${encoded(args, /(#)/)}`;
  const url = `${scheme}://${encoded(hostAndPort(row), /([/?#@])/)}${path}${query}`;
  const verb = method === 'GET' ? '' : method === 'HEAD' ? ' --head' : ` --request ${quoted(plain(method))}`;
  const headers = [
    ['User-Agent', userAgent],
    ['Referer', referer],
  ].flatMap(([name, value = '']) => (value === '' ? [] : [` \\\n  --header ${quoted(`${name}: ${plain(value)}`)}`]));
  return `curl --globoff --path-as-is${verb} ${quoted(url)}${headers.join('')}`;
}
