// Signs in, refreshes and signs out. Uses the unscoped database, since there is no account yet to scope by.
import { randomBytes, randomInt, randomUUIDv7 } from 'node:crypto';
import type { Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/endpoint.ts';
import { NOBODY, type Actor } from '../../core/ctx.ts';
import { fail, Failure } from '../../core/fail.ts';
import type { Installation } from '../../core/installation.ts';
import type { PrismaClient } from '../../generated/client.ts';
import { countAttempt, forgetAttempts, type Attempt } from './attempts.ts';
import { takeSecondFactor } from './factors.ts';
import type { Identities } from './identities.ts';
import { isPassword } from './passwords.ts';
import { apiTokens, refreshTokens, sameText, sha256, switchCodes, type Claims } from './tokens.ts';

const CODE_MINUTES = 10;
const CODE_TRIES = 5;
const OPEN_CHALLENGES = 5;
const IDLE_DAYS = 30;
const LIFETIME_YEARS = 2;
/** Seconds in which two tabs that refresh at once get the same answer; an old token used later counts as stolen. */
const PARALLEL_SECONDS = 10;
/** A session that acts as another account ends after this time. */
const PROXIED_HOURS = 8;
/** Limits the sessions of a program that exchanges its token at each start. */
const SESSIONS_OF_A_TOKEN = 20;

type Sign = (claims: Omit<Claims, 'exp'>) => string;
interface Device {
  kind: Family;
  address: string;
  device: string;
}
interface Place extends Attempt, Device {
  kind: Family;
}
/** The account that an access token names. */
interface Holder {
  id: string;
  kind: Family;
  clientId: string | null;
  /** The account that acts as it. */
  proxyId?: string;
}

type Known = (actor: Actor) => void;

const successorContext = (sessionId: string) => `sessions/${sessionId}/successor`;

export type Sessions = ReturnType<typeof openSessions>;

export function openSessions(installation: Installation, identities: Identities, sign: Sign) {
  const { db, pool, secrets, mail } = installation;
  const refresh = refreshTokens(secrets);
  const keys = apiTokens(secrets);
  const codes = switchCodes(secrets);

  const tokens = (holder: Holder, session: string, refreshToken: string, at: Date): Tokens => ({
    accessToken: sign({
      sub: holder.id,
      kind: holder.kind,
      client: holder.clientId,
      session,
      actor: holder.proxyId ?? holder.id,
      iat: Math.floor(at.getTime() / 1000),
    }),
    refreshToken,
    tokenType: 'Bearer',
  });

  async function factorsOf({ id, login2faType }: { id: string; login2faType: number }) {
    const [authenticator, keys] = await Promise.all([
      db.authenticator.count({ where: { accountId: id } }),
      db.passkey.count({ where: { accountId: id } }),
    ]);
    const type =
      login2faType === 2 ? (2 as const) : login2faType === 1 && authenticator > 0 ? (1 as const) : (0 as const);
    return { type, passkey: keys > 0 };
  }

  /** Counts first, so that parallel attempts share the five tries. */
  async function tryChallenge(onePassKey: string) {
    const { rows } = await pool.query<{ id: string; code_hash: string | null; account_id: string }>(
      `UPDATE login_challenges SET tries = tries + 1
       WHERE key_hash = $1 AND expires_at > now() AND tries < ${CODE_TRIES} RETURNING id, code_hash, account_id`,
      [sha256(onePassKey)],
    );
    const [row] = rows;
    return row ? { id: row.id, codeHash: row.code_hash, accountId: row.account_id } : fail('CREDENTIAL_REFUSED');
  }

  async function finish(place: Place, challenge: { id: string; accountId: string }): Promise<Tokens> {
    const { count } = await db.loginChallenge.deleteMany({ where: { id: challenge.id } });
    const account = await db.account.findUnique({ where: { id: challenge.accountId } });
    if (count !== 1 || account?.email !== place.email) fail('CREDENTIAL_REFUSED');
    const tokens = await start(place, account);
    await forgetAttempts(pool, place);
    return tokens;
  }

  interface Opening {
    endsAt: Date;
    proxyId?: string;
    proxySessionId?: string;
    apiTokenId?: string;
  }
  async function open(
    to: Pick<PrismaClient, 'session'>,
    holder: Holder,
    { address, device }: Pick<Device, 'address' | 'device'>,
    opening: Opening,
  ): Promise<{ session: string; tokens: Tokens }> {
    const session = randomUUIDv7();
    const refreshToken = refresh.issue(session);
    const now = new Date();
    await to.session.create({
      data: { ...opening, id: session, accountId: holder.id, tokenHash: sha256(refreshToken), address, device },
    });
    return { session, tokens: tokens(holder, session, refreshToken, now) };
  }

  /**
   * Checks the account, its root account and its operator. Only after the password was correct, so that others learn
   * nothing.
   */
  async function assertEnabled({ id }: AccountRow) {
    const { rowCount } = await pool.query(
      'SELECT FROM account_standings WHERE id = $1 AND enabled AND coalesce(ends_at > now(), true)',
      [id],
    );
    if (rowCount !== 1) fail('ACCOUNT_NOT_ENABLED');
  }

  /** The caller has authenticated the account. */
  async function start({ kind, address, device }: Device, account: Person): Promise<Tokens> {
    if (account.kind !== kind) fail('CREDENTIAL_REFUSED');
    await assertEnabled(account);
    const accountId = account.id;
    return db.$transaction(async (tx) => {
      if (account.loginNotify) {
        const before = await tx.session.count({ where: { accountId } });
        const alike = await tx.session.count({ where: { accountId, address, device } });
        const at = new Date().toISOString().slice(0, 16).replace('T', ' ');
        if (before > 0 && alike === 0) await mail.post(tx, account, 'newDevice', { device, address, at });
      }
      return (await open(tx, account, { address, device }, { endsAt: lifetime() })).tokens;
    });
  }

  /** The account of a session or API token to exchange; it must belong to this console. */
  async function behind(kind: Family, found: Promise<Actor>): Promise<Actor> {
    const actor = await found.catch((error: unknown) => {
      if (error instanceof Failure && error.reason === 'INVALID_TOKEN') fail('REFRESH_FAILED');
      throw error;
    });
    return actor.kind === kind ? actor : fail('REFRESH_FAILED');
  }

  /** A session that was exchanged for an API token ends with the token at the latest. */
  async function exchange({ kind, address, device }: Device, token: string, known: Known): Promise<Tokens> {
    if (!keys.isOurs(token)) fail('REFRESH_FAILED');
    const actor = await behind(kind, identities.findByToken(token, address));
    known(actor);
    const { id: apiTokenId, expiresAt } = await db.apiToken.findUniqueOrThrow({ where: { tokenHash: sha256(token) } });
    const endsAt = earlier(lifetime(), expiresAt);
    return db.$transaction(async (tx) => {
      const { tokens } = await open(tx, holderOf(actor), { address, device }, { endsAt, apiTokenId });
      const newest = { where: { apiTokenId }, orderBy: { createdAt: 'desc' as const }, take: SESSIONS_OF_A_TOKEN };
      const kept = await tx.session.findMany({ ...newest, select: { id: true } });
      await tx.session.deleteMany({ where: { apiTokenId, id: { notIn: kept.map(({ id }) => id) } } });
      return tokens;
    });
  }

  /** Of concurrent calls one rotates the token, in a single statement. The others get the encrypted successor. */
  async function rotate(
    holder: Holder,
    session: string,
    tokenHash: string,
    { servesParallel }: { servesParallel: boolean },
  ): Promise<Tokens | null> {
    const next = refresh.issue(session);
    const { rows } = await pool.query<{ rotated_at: Date }>(
      `UPDATE sessions SET previous_hash = token_hash, token_hash = $3, successor = $4, rotated_at = now(), last_used_at = now()
       WHERE id = $1 AND token_hash = $2 AND revoked_at IS NULL AND ends_at > now()
         AND last_used_at > now() - interval '${IDLE_DAYS} days'
       RETURNING rotated_at`,
      [session, tokenHash, sha256(next), servesParallel ? secrets.seal(next, successorContext(session)) : null],
    );
    const [row] = rows;
    return row ? tokens(holder, session, next, row.rotated_at) : null;
  }

  return {
    async login(place: Place, password: string) {
      await countAttempt(pool, place);
      const account = await db.account.findUnique({ where: { kind_email: { kind: place.kind, email: place.email } } });
      if (!(await isPassword(account?.passwordHash ?? null, password)) || !account) fail('CREDENTIAL_REFUSED');
      await assertEnabled(account);

      const onePassKey = randomBytes(32).toString('base64url');
      const vcode = String(randomInt(1_000_000)).padStart(6, '0');
      const { type, passkey } = await factorsOf(account);
      await db.$transaction(async (tx) => {
        // One at a time for each account, since parallel sign-ins would all find the count below the limit.
        await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${account.id}::uuid FOR UPDATE`;
        const open = await tx.loginChallenge.count({ where: { accountId: account.id, expiresAt: { gt: new Date() } } });
        if (open >= OPEN_CHALLENGES && type !== 2)
          fail('RATE_LIMITED', { extra: { retryAfterSeconds: CODE_MINUTES * 60 } });
        await tx.loginChallenge.create({
          data: {
            id: randomUUIDv7(),
            accountId: account.id,
            keyHash: sha256(onePassKey),
            codeHash: type === 1 ? null : sha256(`${onePassKey} ${vcode}`),
            expiresAt: new Date(Date.now() + CODE_MINUTES * 60_000),
          },
        });
        if (type === 0) await mail.post(tx, account, 'code', { code: vcode }, CODE_MINUTES * 60_000);
      });
      return { login2FAType: type, onePassKey, passkey, ...(type === 2 && { vcode }) };
    },

    async code(place: Place, { onePassKey, vcode }: { onePassKey: string; vcode: string }): Promise<Tokens> {
      const challenge = await tryChallenge(onePassKey);
      const byFactor = challenge.codeHash === null;
      const isRight = byFactor
        ? await takeSecondFactor(installation, challenge.accountId, vcode, place.address)
        : sameText(challenge.codeHash ?? '', sha256(`${onePassKey} ${vcode}`));
      if (!isRight) fail('CREDENTIAL_REFUSED');
      return finish(place, challenge);
    },

    /** Signs in with a passkey instead of a code. The caller has verified it and returns its account. */
    async codeByPasskey(
      { kind, address, device }: Device,
      onePassKey: string,
      check: (accountId: string) => Promise<void>,
    ): Promise<{ tokens: Tokens; email: string }> {
      const challenge = await tryChallenge(onePassKey);
      await check(challenge.accountId);
      const { email } = await db.account.findUniqueOrThrow({ where: { id: challenge.accountId } });
      return { tokens: await finish({ kind, address, device, email }, challenge), email };
    },

    /** The account of a sign-in that waits for its second factor. */
    async awaited(kind: Family, onePassKey: string): Promise<{ id: string }> {
      const where = { keyHash: sha256(onePassKey), expiresAt: { gt: new Date() }, account: { kind } };
      const challenge = await db.loginChallenge.findFirst({ where });
      return challenge ? { id: challenge.accountId } : fail('CREDENTIAL_REFUSED');
    },

    start,

    /** `known` receives the token's account, also if the refresh fails, for the audit log. */
    async refresh(place: Device, given: string | undefined, known: Known): Promise<Tokens> {
      if (given !== undefined && keys.looksLike(given)) return exchange(place, given, known);
      const session = given === undefined ? null : refresh.sessionOf(given);
      if (given === undefined || session === null) fail('REFRESH_FAILED');
      // Before anything is rotated: a refused token must stay valid for its own console.
      const actor = await behind(place.kind, identities.find(session, place.address));
      known(actor);
      const holder = holderOf(actor);
      const hash = sha256(given);
      const exchanged = await rotate(holder, session, hash, { servesParallel: true });
      if (exchanged) return exchanged;

      const old = await db.session.findUnique({ where: { id: session } });
      if (!old || old.revokedAt) fail('REFRESH_FAILED');
      const isParallel = old.rotatedAt.getTime() > Date.now() - PARALLEL_SECONDS * 1000;
      if (old.previousHash === hash && old.successor !== null && isParallel)
        return tokens(holder, session, secrets.open(old.successor, successorContext(session)), old.rotatedAt);
      // A token of ours that is not the newest was copied: the session ends.
      await db.session.updateMany({ where: { id: session, revokedAt: null }, data: { revokedAt: new Date() } });
      fail('REFRESH_FAILED');
    },

    /** The caller has checked that the actor may act as the target. */
    actAs: (actor: Actor, target: Holder, place: Pick<Device, 'address' | 'device'>) =>
      db.$transaction(async (tx) => {
        // Locks the session: it ends before this, so that nothing starts, or after it, together with the new session.
        const [own] = await tx.$queryRaw<{ ends_at: Date }[]>`
          SELECT ends_at FROM sessions WHERE id = ${actor.sessionId}::uuid AND revoked_at IS NULL FOR SHARE`;
        if (!own) fail('INVALID_TOKEN');
        const endsAt = earlier(new Date(Date.now() + PROXIED_HOURS * 3_600_000), own.ends_at);
        const proxy = { proxyId: actor.id, proxySessionId: actor.sessionId };
        const { session, tokens } = await open(tx, { ...target, proxyId: actor.id }, place, { endsAt, ...proxy });
        return { ...tokens, code: codes.issue(session) };
      }),

    /** The code represents the first refresh token of its session: using either makes the other invalid. */
    async switchUser({ kind, address }: Device, code: string): Promise<{ tokens: Tokens; actor: Actor }> {
      const id = codes.sessionOf(code) ?? fail('INVALID_TOKEN');
      const actor = await identities.find(id, address);
      const first = await db.session.findFirst({ where: { id, previousHash: null } });
      if (actor.kind !== kind || !first) fail('INVALID_TOKEN');
      const rotated = await rotate(holderOf(actor), id, first.tokenHash, { servesParallel: false });
      return { tokens: rotated ?? fail('INVALID_TOKEN'), actor };
    },

    /** Whether this refresh token belongs to the session that acts as the actor. */
    async isOfProxy(actor: Pick<Actor, 'sessionId'>, refreshToken: string): Promise<boolean> {
      const session = await db.session.findUnique({ where: { id: actor.sessionId } });
      return session?.proxySessionId != null && session.proxySessionId === refresh.sessionOf(refreshToken);
    },

    async logout(actor: Actor, given: string | undefined): Promise<void> {
      const isAnother = given !== undefined && refresh.sessionOf(given) !== actor.sessionId;
      if (isAnother || actor.sessionId === NOBODY) fail('REVOKE_FAILED');
      await db.session.updateMany({ where: { id: actor.sessionId, revokedAt: null }, data: { revokedAt: new Date() } });
    },

    account: (actor: Actor) =>
      db.account.findUniqueOrThrow({
        where: { id: actor.id },
        include: {
          role: { select: { name: true } },
          parent: { select: { name: true } },
          createdBy: { select: { kind: true, name: true } },
        },
      }),
  };
}

interface Person extends AccountRow {
  email: string;
  language: string;
  loginNotify: boolean;
}
interface AccountRow {
  id: string;
  kind: Family;
  clientId: string | null;
}

const lifetime = () => {
  const ends = new Date();
  ends.setUTCFullYear(ends.getUTCFullYear() + LIFETIME_YEARS);
  return ends;
};
const earlier = (one: Date, other: Date | null) => (other !== null && other < one ? other : one);

const holderOf = ({ id, kind, clientId, proxy }: Actor): Holder => ({
  id,
  kind,
  clientId: clientId === NOBODY ? null : clientId,
  ...(proxy && { proxyId: proxy.id }),
});

/** Deletes expired challenges, sessions and failed attempts; called by a job. */
export async function sweepSessions({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  for (const table of ['login_challenges', 'authenticator_setups', 'passkey_challenges', 'oidc_sign_ins'])
    await pool.query(`DELETE FROM ${table} WHERE expires_at < now()`);
  await pool.query(`DELETE FROM mailed_tokens WHERE expires_at < now() - interval '1 day'`);
  await pool.query(`DELETE FROM login_failures WHERE first_at < now() - interval '1 day'`);
  await pool.query(
    `DELETE FROM sessions WHERE ends_at < now() OR revoked_at < now() - interval '30 days' OR last_used_at < now() - interval '${IDLE_DAYS} days'`,
  );
}
