// Fills in the form from a pasted curl command or raw request.
import { SimulatedHeader, SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { parseCurl, type ParsedRequest } from './parse-curl.ts';
import { PasteError } from './paste-error.ts';
import type { RequestDraft } from './request-draft.ts';

const REQUEST_LINE = /^\s*([A-Z]+) (\S+) HTTP\/[\d.]+[ \t]*\r?\n/;

export const isPastedRequest = (text: string) =>
  /^\s*(?:\$\s+)?curl(?:\.exe)?\s/i.test(text) || REQUEST_LINE.test(text);

/** Throws a PasteError for what cannot be simulated. */
export function draftOf(text: string): Pick<RequestDraft, 'method' | 'url' | 'headers' | 'body'> {
  const { method, url, headers, body } = REQUEST_LINE.test(text) ? parseRaw(text) : parseCurl(text);
  const known = SimulateInput.shape.method.safeParse(method.toUpperCase());
  if (!known.success) throw new PasteError('method', method);
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  return {
    method: known.data,
    url: host === undefined ? url : url.replace(/^([a-z]+:\/\/)[^/?#]*/i, `$1${host.replaceAll('$', '$$$$')}`),
    headers: headers
      // The node sets what belongs to the connection.
      .filter(([name]) => SimulatedHeader.shape.name.safeParse(name).success)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    body,
  };
}

/** A request as a proxy or a log shows it. Without a scheme, it is taken to be HTTPS. */
function parseRaw(text: string): ParsedRequest {
  const [line = '', method = '', target = ''] = REQUEST_LINE.exec(text) ?? [];
  const rest = text.slice(line.length);
  const [head = '', gap = ''] = /^[^]*?(\r?\n\r?\n|$)/.exec(rest) ?? [];
  const lines = head.split(/\r?\n/).filter((one) => one.includes(':'));
  const headers = lines.map((one): [string, string] => {
    const colon = one.indexOf(':');
    return [one.slice(0, colon).trim(), one.slice(colon + 1).trim()];
  });
  const valueOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const host = valueOf('host');
  const isWhole = /^https?:\/\//i.test(target);
  if (!isWhole && host === undefined) throw new PasteError('noURL');
  const body = gap === '' ? '' : rest.slice(head.length);
  return {
    method,
    url: isWhole ? target : `${host?.endsWith(':80') ? 'http' : 'https'}://${host}${target}`,
    headers,
    body: bodyOf(body, valueOf('content-type') ?? '', Number(valueOf('content-length'))),
  };
}

/** Copied text often has other line breaks, which the parts of a form must not have, and one more at its end. */
function bodyOf(text: string, type: string, length: number): string {
  const body = /^multipart\//i.test(type) ? text.replace(/\r?\n/g, '\r\n') : text;
  if (Number.isNaN(length)) return body.replace(/\r?\n$/, '');
  return new TextDecoder().decode(new TextEncoder().encode(body).subarray(0, length));
}
