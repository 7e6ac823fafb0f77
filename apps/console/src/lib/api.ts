import { ApiError, connect, type Options } from '@edgeloom/contract/client.ts';
import type { Endpoint, Received, Sent } from '@edgeloom/contract/endpoint.ts';
import { cookie, endSession, keepTokens, useSession } from '../stores/session.ts';
import { noteUnmapped } from './errors.ts';
import { family } from './family.ts';
import { CALL_MS, withinCallLimit } from './time-limit.ts';

const base = '/api/v1';
/** Wrong, expired for good, revoked, not renewable: the session is over, whatever was called. */
const over = [101_013, 101_014, 101_015, 101_016];
/** The account was suspended, unless the call says it of another one. */
const SUSPENDED = 101_008;

const send = connect({ base, family, token: () => cookie('accessToken'), renew });

/** The API as a typed function. What ends the session anywhere ends it here. */
export function call<E extends Endpoint>(endpoint: E, sent: Sent<E>, options?: Options): Promise<Received<E>>;
export async function call(endpoint: Endpoint, sent: unknown, options?: Options): Promise<unknown> {
  try {
    // A stream of events stays open as long as its reader wants.
    if (endpoint.answers === 'text/event-stream') return await send(endpoint, sent, options);
    return await withinCallLimit((signal) => send(endpoint, sent, { ...options, signal }), options?.signal);
  } catch (error) {
    noteUnmapped(error);
    // A call that needs no session says nothing of one: a mailed link that is too old signs nobody out.
    const isOver = error instanceof ApiError && endpoint.can !== 'anyone' && ends(endpoint, error.envelope.code);
    const isThere = cookie('accessToken') !== null || useSession.getState().account !== null;
    if (isOver && isThere) endSession(error.envelope.code);
    throw error;
  }
}

const ends = ({ fails }: Endpoint, code: number) =>
  over.includes(code) || (code === SUSPENDED && !fails?.includes('ACCOUNT_NOT_ENABLED'));

/** Concurrent callers wait for one attempt, of all tabs; who comes late finds the token renewed. */
let renewing: Promise<boolean> | null = null;
function renew(expired: string | null): Promise<boolean> {
  if (cookie('accessToken') !== expired) return Promise.resolve(cookie('accessToken') !== null);
  renewing ??= locked(() => exchange(expired)).finally(() => (renewing = null));
  return renewing;
}

async function exchange(expired: string | null) {
  // A refresh token serves once, and using an old one ends the whole family: two tabs must not spend the same one.
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

// Web locks exist in secure contexts only; over plain http the tabs take their chance within the API's grace time.
const locked = <T>(task: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? navigator.locks.request(`edgeloom.${family}.renew`, task) : task();

function tokensOf(reply: unknown) {
  if (typeof reply === 'object' && reply !== null && 'accessToken' in reply && typeof reply.accessToken === 'string')
    return { accessToken: reply.accessToken, tokenType: 'Bearer' };
  throw new Error('The answer to a refresh carries no token');
}
