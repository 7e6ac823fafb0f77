// Our ACME account at a certificate authority, and the authority's errors.
import { Agent, get } from 'node:https';
import { readFile } from 'node:fs/promises';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import acme from 'acme-client';
import * as z from 'zod';
import { contexts } from '../core/secrets.ts';
import type { Installation } from '../core/installation.ts';
import type { Authority } from '../core/env.ts';

const Problem = z.object({
  type: z.string().startsWith('urn:ietf:params:acme:error:'),
  detail: z.string().default(''),
  subproblems: z.array(z.object({ detail: z.string().default('') })).default([]),
});
const ResponseHead = z.object({
  status: z.int(),
  data: z.unknown(),
  headers: z.looseObject({ 'retry-after': z.string().optional() }),
});

/** The authority refused a request. */
export class AcmeProblem extends Error {
  /** The ACME error type, for example `rateLimited` or `unauthorized`. */
  readonly type: string;
  readonly status: number;
  readonly retryAfterSeconds: number;

  constructor(type: string, detail: string, status: number, retryAfterSeconds: number) {
    super(detail || type);
    this.type = type;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

// The library drops the error's type, and would sleep as long as an authority asks. Failed orders wait in the database
// instead.
Reflect.set(acme.axios.defaults, 'acmeSettings', { retryMaxAttempts: 0 });
acme.axios.defaults.timeout = 20_000;
acme.axios.interceptors.response.use((response) => {
  const head = ResponseHead.safeParse(response);
  if (!head.success || head.data.status < 400) return response;
  const problem = Problem.safeParse(head.data.data);
  if (!problem.success) {
    if (isGatewayError(head.data.status)) throw new LostResponseError(`HTTP ${head.data.status}`);
    return response;
  }
  const type = problem.data.type.split(':').at(-1) ?? '';
  if (type === 'badNonce') return response;
  const details = [problem.data.detail, ...problem.data.subproblems.map(({ detail }) => detail)];
  const seconds = Number(head.data.headers['retry-after'] ?? 0);
  throw new AcmeProblem(
    type,
    details.filter((text) => text !== '').join(' '),
    head.data.status,
    Number.isFinite(seconds) ? seconds : 0,
  );
}, rejectUnanswered);

/** For a request without a response, the library's own interceptor throws a TypeError. */
function rejectUnanswered(error: unknown): never {
  throw error instanceof TypeError ? new LostResponseError('the authority could not be reached') : error;
}

/** One request got no response, or only the gateway's. */
class LostResponseError extends Error {}
/** The directory cannot be read, not even on a second connection. */
class UnreachableError extends Error {}

/** The statuses of 520 to 530 are Cloudflare's. */
const isGatewayError = (status: number) => (status >= 502 && status <= 504) || (status >= 520 && status <= 530);

/** The authority cannot serve any order at the moment. Its other errors may concern one order only. */
export const isAuthorityDown = (error: unknown) =>
  error instanceof UnreachableError ||
  error instanceof LostResponseError ||
  (error instanceof AcmeProblem && isGatewayError(error.status));

/** The authority itself responds, so that only this request was lost. */
export async function isOnlyLost(error: unknown, { directory }: Authority): Promise<boolean> {
  if (!(error instanceof LostResponseError)) return false;
  try {
    await assertReachable(directory);
    return true;
  } catch {
    return false;
  }
}

/** Throws why the authority is unreachable, if it is also on a connection of its own. */
async function assertReachable(directory: string): Promise<void> {
  const agent: unknown = acme.axios.defaults.httpsAgent;
  try {
    await readDirectory(directory, agent instanceof Agent ? agent : undefined);
  } catch {
    // The authority may have closed the kept connection, or one packet was lost.
    await readDirectory(directory, new Agent({ secureContext }));
  }
}

const readDirectory = (directory: string, agent?: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new UnreachableError(`${new URL(directory).host}: ${reason}`));
    const request = get(directory, { timeout: 10_000, agent }, (response) => {
      const { statusCode = 0 } = response.resume();
      if (statusCode >= 500) fail(`HTTP ${statusCode}`);
      else resolve();
    });
    request.on('timeout', () => request.destroy(new Error('no response within 10 seconds')));
    request.on('error', (error) => fail('code' in error ? String(error.code) : error.message));
  });

let secureContext: SecureContext | undefined;
let trusted: { files: string; ready: Promise<void> } | null = null;
/**
 * Trusts the authorities' own roots in addition to the system's. Cached per set of authorities, since reading all
 * system roots for each connection is slow.
 */
export const trust = (authorities: readonly Authority[]): Promise<void> => {
  const files = authorities.flatMap(({ rootFile }) => rootFile ?? []);
  const names = files.join('\n');
  if (trusted?.files === names) return trusted.ready;
  const ready = readRoots(files);
  trusted = { files: names, ready };
  // An unreadable file is read again for the next order.
  ready.catch(() => (trusted = null));
  return ready;
};

async function readRoots(files: readonly string[]): Promise<void> {
  const own = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  secureContext = createSecureContext({ ca: [...rootCertificates, ...own] });
  acme.axios.defaults.httpsAgent = new Agent({ keepAlive: true, secureContext });
}

type Deps = Pick<Installation, 'env' | 'pool' | 'secrets'>;
const accountId = ({ directory, eab }: Authority) => (eab ? `${directory} ${eab.kid}` : directory);

export async function openAccount({ env, pool, secrets }: Deps, authority: Authority): Promise<acme.Client> {
  await trust(env.ACME_AUTHORITIES);
  await assertReachable(authority.directory);
  const id = accountId(authority);
  const sealed = secrets.seal(
    (await acme.crypto.createPrivateEcdsaKey('P-256')).toString(),
    contexts.acmeAccountKey(id),
  );
  // A concurrent process uses the key of the first.
  await pool.query('INSERT INTO acme_accounts (id, key_sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING', [id, sealed]);
  const { rows } = await pool.query<{ keySealed: string; url: string | null }>(
    'SELECT key_sealed AS "keySealed", url FROM acme_accounts WHERE id = $1',
    [id],
  );
  const [account] = rows;
  if (!account) throw new Error(`no account ${id}`);
  const client = new acme.Client({
    directoryUrl: authority.directory,
    accountKey: secrets.open(account.keySealed, contexts.acmeAccountKey(id)),
    ...(account.url !== null && { accountUrl: account.url }),
    ...(authority.eab && { externalAccountBinding: { kid: authority.eab.kid, hmacKey: authority.eab.key } }),
  });
  if (account.url !== null) return client;
  const contact = env.ACME_CONTACT === undefined ? {} : { contact: [`mailto:${env.ACME_CONTACT}`] };
  // For an account that a concurrent order created, the library then sends an empty update, which a strict authority
  // refuses. It has the account's address by then.
  await client.createAccount({ termsOfServiceAgreed: true, ...contact }).catch((error: unknown) => {
    if (!hasAccount(client)) throw error;
  });
  await pool.query('UPDATE acme_accounts SET url = $2 WHERE id = $1', [id, client.getAccountUrl()]);
  return client;
}

function hasAccount(client: acme.Client): boolean {
  try {
    return client.getAccountUrl() !== '';
  } catch {
    return false;
  }
}

/** The authority no longer knows the account. The next order creates it again with the same key. */
export const forgetAccount = ({ pool }: Pick<Deps, 'pool'>, authority: Authority) =>
  pool.query('UPDATE acme_accounts SET url = NULL WHERE id = $1', [accountId(authority)]);
