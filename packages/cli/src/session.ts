// Connects to the API with the stored token, or with EDGELOOM_URL and EDGELOOM_TOKEN.
import { session as sessions } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { ApiError, connect, type Call } from '@edgeloom/contract/client.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { CommandError } from './command.ts';
import { readCredentials } from './credentials.ts';
import type { Terminal } from './terminal.ts';

export interface Session {
  url: string;
  family: Family;
  call: Call;
}
export type Account = Received<typeof sessions.self>;

/** There is no response. */
export class UnreachableError extends CommandError {}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
/** Answers to a caller of another family. */
const otherFamily = new Set<number>([errors.PERMISSION_DENIED.code, errors.NO_SUCH_CALL.code]);

/** The address of an installation, without a slash at the end. */
export function installationUrl(text: string, { allowHttp = false } = {}): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new CommandError(`Not an address of an installation: ${text}. Example: https://cdn.example.com`);
  if (url.protocol === 'http:' && !allowHttp && !LOOPBACK.test(url.hostname))
    throw new CommandError('Without HTTPS anyone on the way can read the token. Use https://, or pass --allow-http.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

const connectTo = (url: string, family: Family, token: string): Call =>
  connect({ base: `${url}/api/v1`, family, token: () => token, fetch: fetchOrExplain });

export async function openSession({ env }: Pick<Terminal, 'env'>): Promise<Session> {
  const [address, token] = [env['EDGELOOM_URL'] ?? '', env['EDGELOOM_TOKEN'] ?? ''];
  if ((address === '') !== (token === '')) throw new CommandError('EDGELOOM_URL and EDGELOOM_TOKEN belong together.');
  if (address !== '') {
    const url = installationUrl(address, { allowHttp: env['EDGELOOM_ALLOW_HTTP'] === '1' });
    const { family } = await signIn(url, token);
    return { url, family, call: connectTo(url, family, token) };
  }
  const stored = await readCredentials(env);
  if (stored === null) throw new CommandError('You are not signed in. Run edgeloom login URL.');
  return { url: stored.url, family: stored.family, call: connectTo(stored.url, stored.family, stored.token) };
}

/** A token does not contain the family of its account, so each is tried. */
export async function signIn(url: string, token: string): Promise<{ family: Family; account: Account }> {
  let last: unknown;
  for (const family of ['user', 'client', 'admin'] as const)
    try {
      return { family, account: await connectTo(url, family, token)(sessions.self) };
    } catch (error) {
      if (!(error instanceof ApiError) || !otherFamily.has(error.envelope.code)) throw error;
      last = error;
    }
  throw last;
}

/** Sites, domains and logs have no calls for administrators. */
export async function openSiteSession(terminal: Pick<Terminal, 'env'>): Promise<Session> {
  const session = await openSession(terminal);
  if (session.family === 'admin')
    throw new CommandError('Administrators have no sites. Sign in with a token of a customer or an operator.');
  return session;
}

async function fetchOrExplain(...request: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(...request);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    const { origin } = new URL(String(request[0]));
    throw new UnreachableError(`${origin} does not respond: ${reason}`, { cause: error });
  }
}

/**
 * The API may respond soon: it restarts, or the network is down. `fetch` reports a connection that breaks during a
 * response as a TypeError with a cause.
 */
export const isTemporary = (error: unknown) =>
  error instanceof UnreachableError ||
  (error instanceof ApiError && error.status > 500) ||
  (error instanceof TypeError && error.cause instanceof Error);

export const RECONNECTING = 'The connection broke. Connecting again …';

/** All rows of a paged list. */
export async function allRows<Row>(
  page: (query: { page: number; pageSize: number }) => Promise<{ data: Row[]; total: number }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let number = 1; ; number += 1) {
    const { data, total } = await page({ page: number, pageSize: 500 });
    rows.push(...data);
    if (data.length === 0 || rows.length >= total) return rows;
  }
}

/** Parts of a list, because calls limit the number of objects. */
export const batches = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
