import { ApiError, connect, type Options } from '@edgeloom/contract/client.ts';
import type { Endpoint, Received, Sent } from '@edgeloom/contract/endpoint.ts';
import { cookie, endSession, keepTokens, useSession } from '../stores/session.ts';
import { noteUnmapped } from './errors.ts';
import { family } from './family.ts';
import { CALL_MS, withinCallLimit } from './time-limit.ts';

const base = '/api/v1';
/** Error codes that end the session: invalid, expired, revoked or not renewable token. */
const over = [101_013, 101_014, 101_015, 101_016];
/** The account was suspended, unless the call is about another account. */
const SUSPENDED = 101_008;

const send = connect({ base, family, token: () => cookie('accessToken'), renew });

/** Typed API client. Errors that end the session sign the reader out. */
export function call<E extends Endpoint>(endpoint: E, sent: Sent<E>, options?: Options): Promise<Received<E>>;
export async function call(endpoint: Endpoint, sent: unknown, options?: Options): Promise<unknown> {
  try {
    // An event stream has no timeout.
    if (endpoint.answers === 'text/event-stream') return await send(endpoint, sent, options);
    return await withinCallLimit((signal) => send(endpoint, sent, { ...options, signal }), options?.signal);
  } catch (error) {
    noteUnmapped(error);
    // Calls without a session, such as an expired mailed link, must not sign out.
    const isOver = error instanceof ApiError && endpoint.can !== 'anyone' && ends(endpoint, error.envelope.code);
    const isThere = cookie('accessToken') !== null || useSession.getState().account !== null;
    if (isOver && isThere) endSession(error.envelope.code);
    throw error;
  }
}

const ends = ({ fails }: Endpoint, code: number) =>
  over.includes(code) || (code === SUSPENDED && !fails?.includes('ACCOUNT_NOT_ENABLED'));

/** Concurrent callers in all tabs share one refresh. */
let renewing: Promise<boolean> | null = null;
function renew(expired: string | null): Promise<boolean> {
  if (cookie('accessToken') !== expired) return Promise.resolve(cookie('accessToken') !== null);
  renewing ??= locked(() => exchange(expired)).finally(() => (renewing = null));
  return renewing;
}

async function exchange(expired: string | null) {
  // A refresh token works once, and reuse revokes the whole session: two tabs must not use the same token.
  if (cookie('accessToken') !== expired) return cookie('accessToken') !== null;
  const response = await fetch(`${base}/${family}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(expired ? { accessToken: expired } : {}),
    signal: AbortSignal.timeout(CALL_MS),
  });
  if (!response.ok) return false;
  keepTokens(tokensOf(await response.json()));
  return true;
}

// Web Locks need a secure context. Over plain HTTP the API's grace period must suffice.
const locked = <T>(task: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? navigator.locks.request(`edgeloom.${family}.renew`, task) : task();

function tokensOf(reply: unknown) {
  if (typeof reply === 'object' && reply !== null && 'accessToken' in reply && typeof reply.accessToken === 'string')
    return { accessToken: reply.accessToken, tokenType: 'Bearer' };
  throw new Error('The answer to a refresh carries no token');
}
