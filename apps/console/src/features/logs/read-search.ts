import { Cidr, DomainName } from '@edgeloom/contract/common/net.ts';
import type { FilterKey } from './log-state.ts';

/** The meaning of the search field's text. */
export type Asked = { request: string } | { filters: readonly { key: FilterKey; value: string }[] };

export const requestID = /^[0-9a-f]{32}$/;
const statusCode = /^(?:[2-59]xx|[1-9]\d\d)$/;

/** A request ID, a status, an address or network, a URL, or a part of a path. */
export function readSearch(typed: string): Asked | null {
  const text = typed.trim();
  if (text === '') return null;
  const lower = text.toLowerCase();
  if (requestID.test(lower)) return { request: lower };
  if (statusCode.test(lower)) return { filters: [{ key: 'status', value: lower }] };
  if (Cidr.safeParse(text).success) return { filters: [{ key: 'remoteIP', value: lower }] };
  if (text.startsWith('/')) return { filters: [{ key: 'uri', value: loggedPath(text) }] };
  const url = urlOf(text);
  if (!url) return { filters: [{ key: 'uri', value: text }] };
  return {
    filters: [
      { key: 'domains', value: url.hostname },
      ...(url.pathname === '/' ? [] : [{ key: 'uri' as const, value: loggedPath(url.pathname) }]),
    ],
  };
}

function urlOf(text: string): URL | null {
  const hasScheme = /^https?:\/\//i.test(text);
  if (/\s/.test(text) || (!hasScheme && !/^[^/]+\//.test(text))) return null;
  const url = URL.parse(hasScheme ? text : `https://${text}`);
  return url && DomainName.safeParse(url.hostname).success ? url : null;
}

/** The path as it is logged: decoded, without query. */
function loggedPath(text: string): string {
  const [path = ''] = text.split(/[?#]/);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
