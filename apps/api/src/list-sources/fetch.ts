// Fetches the text of a subscribed list, or the decisions of CrowdSec.
import {
  MAX_SOURCE_BYTES,
  type ListSourceError,
  type ListSourceKind,
} from '@edgeloom/contract/list-sources/list-sources.ts';
import type { Env } from '../core/env.ts';
import { outboundFetch, OutboundRefusal, ResponseTooLargeError } from '../core/outbound-fetch.ts';

export interface ListRequest {
  kind: ListSourceKind;
  url: string;
  /** The ETag of the stored copy. */
  etag: string | null;
  /** The API key of CrowdSec. Null: there is none. */
  key: string | null;
}
export type FetchedList =
  | { kind: 'text'; text: string; etag: string | null; receivedAt: number }
  | { kind: 'unchanged' }
  | { kind: 'error'; error: ListSourceError; status: number | null };

const MAX_ETAG = 1024;
const failed = (error: ListSourceError, status: number | null = null): FetchedList => ({
  kind: 'error',
  error,
  status,
});

export async function fetchList(
  settings: Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>,
  request: ListRequest,
): Promise<FetchedList> {
  const { kind, etag } = request;
  if (kind === 'crowdSec' && request.key === null) return failed('keyMissing');
  try {
    const { url, headers } = kind === 'url' ? textRequest(request) : decisionsRequest(request);
    const fetchOutbound = outboundFetch(settings, MAX_SOURCE_BYTES[kind]);
    const response = await fetchOutbound(url, { headers: { 'accept-encoding': 'identity', ...headers } });
    if (response.status === 304 && etag !== null) return { kind: 'unchanged' };
    // Redirects are not followed: the address behind them has not been checked.
    if (response.status !== 200) return failed('status', response.status);
    // We accept no encoding, because a small compressed response can contain any amount of text.
    if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') return failed('compressed');
    const newTag = response.headers.get('etag');
    const text = await response.text();
    return {
      kind: 'text',
      text,
      etag: kind === 'url' && newTag !== null && newTag.length <= MAX_ETAG ? newTag : null,
      receivedAt: Date.now(),
    };
  } catch (error) {
    if (error instanceof ResponseTooLargeError) return failed('tooLarge');
    return failed(error instanceof OutboundRefusal ? 'notAllowed' : 'unreachable');
  }
}

const textRequest = ({ url, etag }: ListRequest) => ({
  url,
  headers: {
    accept: 'text/plain, text/csv, */*',
    'user-agent': 'Edgeloom',
    ...(etag !== null && { 'if-none-match': etag }),
  },
});

/** All decisions in force. The changes since the last fetch, without `startup`, would be lost with a failed fetch. */
function decisionsRequest({ url, key }: ListRequest) {
  const base = url.replace(/[?#].*$/s, '').replace(/\/*$/, '/');
  return {
    url: `${base}v1/decisions/stream?startup=true`,
    // LAPI lists bouncers with their user agents, as name/version.
    headers: { accept: 'application/json', 'user-agent': 'Edgeloom/1', 'x-api-key': key ?? '' },
  };
}
