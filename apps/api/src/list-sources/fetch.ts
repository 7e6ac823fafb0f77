// Fetches the text of a subscribed list.
import { MAX_SOURCE_BYTES, type ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import type { Env } from '../core/env.ts';
import { outboundFetch, OutboundRefusal, ResponseTooLargeError } from '../core/outbound-fetch.ts';

export type FetchedList =
  | { kind: 'text'; text: string; etag: string | null }
  | { kind: 'unchanged' }
  | { kind: 'error'; error: ListSourceError; status: number | null };

const MAX_ETAG = 1024;
const failed = (error: ListSourceError, status: number | null = null): FetchedList => ({
  kind: 'error',
  error,
  status,
});

/** `etag`: of the copy that we have. */
export async function fetchList(
  settings: Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>,
  url: string,
  etag: string | null,
): Promise<FetchedList> {
  try {
    const headers = {
      accept: 'text/plain, text/csv, */*',
      'accept-encoding': 'identity',
      'user-agent': 'Edgeloom',
      ...(etag !== null && { 'if-none-match': etag }),
    };
    const response = await outboundFetch(settings, MAX_SOURCE_BYTES)(url, { headers });
    if (response.status === 304 && etag !== null) return { kind: 'unchanged' };
    // Redirects are not followed: the address behind them has not been checked.
    if (response.status !== 200) return failed('status', response.status);
    // We accept no encoding, because a small compressed response can contain any amount of text.
    if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') return failed('compressed');
    const newTag = response.headers.get('etag');
    return {
      kind: 'text',
      text: await response.text(),
      etag: newTag !== null && newTag.length <= MAX_ETAG ? newTag : null,
    };
  } catch (error) {
    if (error instanceof ResponseTooLargeError) return failed('tooLarge');
    return failed(error instanceof OutboundRefusal ? 'notAllowed' : 'unreachable');
  }
}
