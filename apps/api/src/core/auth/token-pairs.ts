// Sessions and the pair of tokens of each: opens one, and replaces its refresh token at each use.
import { randomUUIDv7 } from 'node:crypto';
import type { Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import type { PrismaClient } from '../../generated/client.ts';
import { fail } from '../fail.ts';
import type { Installation } from '../installation.ts';
import { refreshTokens, sha256, type Claims } from './tokens.ts';

export const IDLE_DAYS = 30;
/**
 * Seconds in which two tabs that refresh concurrently get the same response. An old token used later counts as stolen.
 */
const PARALLEL_SECONDS = 10;

/** Signs an access token. */
export type Sign = (claims: Omit<Claims, 'exp'>) => string;
/** The account that an access token names. */
export interface Holder {
  id: string;
  kind: Family;
  clientId: string | null;
  /** The account that acts as it. */
  proxyId?: string;
}
/** Where a call comes from: its console, address and browser. */
export interface Device {
  kind: Family;
  address: string;
  device: string;
}
export type Place = Pick<Device, 'address' | 'device'>;
interface SessionTerms {
  endsAt: Date;
  proxyId?: string;
  proxySessionId?: string;
  apiTokenId?: string;
}

const successorContext = (sessionId: string) => `sessions/${sessionId}/successor`;

export class TokenPairs {
  readonly #installation: Installation;
  readonly #sign: Sign;
  readonly #refresh: ReturnType<typeof refreshTokens>;

  constructor(installation: Installation, sign: Sign) {
    this.#installation = installation;
    this.#sign = sign;
    this.#refresh = refreshTokens(installation.secrets);
  }

  /** The session of a refresh token that we issued, or null. */
  sessionOf(refreshToken: string): string | null {
    return this.#refresh.sessionOf(refreshToken);
  }

  async open(
    to: Pick<PrismaClient, 'session'>,
    holder: Holder,
    { address, device }: Place,
    terms: SessionTerms,
  ): Promise<{ session: string; tokens: Tokens }> {
    const session = randomUUIDv7();
    const refreshToken = this.#refresh.issue(session);
    const now = new Date();
    await to.session.create({
      data: { ...terms, id: session, accountId: holder.id, tokenHash: sha256(refreshToken), address, device },
    });
    return { session, tokens: this.#pair(holder, session, refreshToken, now) };
  }

  /** Replaces the refresh token in a single statement. Concurrent calls get the encrypted successor. */
  async rotate(
    holder: Holder,
    session: string,
    tokenHash: string,
    { servesParallel }: { servesParallel: boolean },
  ): Promise<Tokens | null> {
    const { pool, secrets } = this.#installation;
    const next = this.#refresh.issue(session);
    const { rows } = await pool.query<{ rotated_at: Date }>(
      `UPDATE sessions SET previous_hash = token_hash, token_hash = $3, successor = $4, rotated_at = now(), last_used_at = now()
       WHERE id = $1 AND token_hash = $2 AND revoked_at IS NULL AND ends_at > now()
         AND last_used_at > now() - interval '${IDLE_DAYS} days'
       RETURNING rotated_at`,
      [session, tokenHash, sha256(next), servesParallel ? secrets.seal(next, successorContext(session)) : null],
    );
    const [row] = rows;
    return row ? this.#pair(holder, session, next, row.rotated_at) : null;
  }

  /** The tokens that a concurrent call got for the same refresh token. A copied token ends its session. */
  async repeatRotation(holder: Holder, session: string, tokenHash: string): Promise<Tokens> {
    const { db, secrets } = this.#installation;
    const row = await db.session.findUnique({ where: { id: session } });
    if (!row || row.revokedAt) fail('REFRESH_FAILED');
    const isParallel = row.rotatedAt.getTime() > Date.now() - PARALLEL_SECONDS * 1000;
    if (row.previousHash === tokenHash && row.successor !== null && isParallel)
      return this.#pair(holder, session, secrets.open(row.successor, successorContext(session)), row.rotatedAt);
    // We issued this token, and it is not the newest, so it was copied.
    await db.session.updateMany({ where: { id: session, revokedAt: null }, data: { revokedAt: new Date() } });
    return fail('REFRESH_FAILED');
  }

  #pair(holder: Holder, session: string, refreshToken: string, at: Date): Tokens {
    const accessToken = this.#sign({
      sub: holder.id,
      kind: holder.kind,
      client: holder.clientId,
      session,
      actor: holder.proxyId ?? holder.id,
      iat: Math.floor(at.getTime() / 1000),
    });
    return { accessToken, refreshToken, tokenType: 'Bearer' };
  }
}
