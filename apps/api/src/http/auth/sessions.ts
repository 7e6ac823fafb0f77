// Signing in, keeping signed in, signing out. It works before there is an account to scope by, so it uses the database
// without a scope.
import { randomBytes, randomInt, randomUUIDv7, timingSafeEqual } from 'node:crypto';
import type { Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/endpoint.ts';
import type { Actor } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { Installation } from '../../core/installation.ts';
import { countAttempt, forgetAttempts, type Attempt } from './attempts.ts';
import { isPassword } from './passwords.ts';
import { refreshTokens, sha256, type Claims } from './tokens.ts';

const CODE_MINUTES = 10;
const CODE_TRIES = 5;
const OPEN_CHALLENGES = 5;
const IDLE_DAYS = 30;
const LIFETIME_YEARS = 2;
/** Two tabs that refresh at once get one answer; later than this, an old token is a stolen one. */
const PARALLEL_SECONDS = 10;

type Sign = (claims: Omit<Claims, 'exp'>) => string;
interface Place extends Attempt {
  kind: Family;
  device: string;
}

const successorContext = (sessionId: string) => `sessions/${sessionId}/successor`;

export type Sessions = ReturnType<typeof openSessions>;

export function openSessions({ db, pool, secrets, mail }: Installation, sign: Sign) {
  const refresh = refreshTokens(secrets);

  const tokens = (account: AccountRow, session: string, refreshToken: string, at: Date): Tokens => ({
    accessToken: sign({
      sub: account.id,
      kind: account.kind,
      client: account.clientId,
      session,
      actor: account.id,
      iat: Math.floor(at.getTime() / 1000),
    }),
    refreshToken,
    tokenType: 'Bearer',
  });

  return {
    async login(place: Place, password: string) {
      await countAttempt(pool, place);
      const account = await db.account.findUnique({ where: { kind_email: { kind: place.kind, email: place.email } } });
      if (!(await isPassword(account?.passwordHash ?? null, password)) || !account) fail('CREDENTIAL_REFUSED');
      assertEnabled(account);

      const onePassKey = randomBytes(32).toString('base64url');
      const vcode = String(randomInt(1_000_000)).padStart(6, '0');
      await db.$transaction(async (tx) => {
        // One at a time for each account, or parallel sign-ins would all find the count below the limit.
        await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${account.id}::uuid FOR UPDATE`;
        const open = await tx.loginChallenge.count({ where: { accountId: account.id, expiresAt: { gt: new Date() } } });
        if (open >= OPEN_CHALLENGES && account.login2faType !== 2)
          fail('RATE_LIMITED', { extra: { retryAfterSeconds: CODE_MINUTES * 60 } });
        await tx.loginChallenge.create({
          data: {
            id: randomUUIDv7(),
            accountId: account.id,
            keyHash: sha256(onePassKey),
            codeHash: sha256(`${onePassKey} ${vcode}`),
            expiresAt: new Date(Date.now() + CODE_MINUTES * 60_000),
          },
        });
      });
      if (account.login2faType === 2) return { login2FAType: 2 as const, onePassKey, vcode };
      await mail.send({ to: account.email, ...codeMail(vcode, account.language) });
      return { login2FAType: 0 as const, onePassKey };
    },

    async code(place: Place, { onePassKey, vcode }: { onePassKey: string; vcode: string }): Promise<Tokens> {
      const keyHash = sha256(onePassKey);
      // Counted first: parallel guesses share the five tries.
      const tried = await pool.query<{ id: string; code_hash: string; account_id: string }>(
        `UPDATE login_challenges SET tries = tries + 1
         WHERE key_hash = $1 AND expires_at > now() AND tries < ${CODE_TRIES} RETURNING id, code_hash, account_id`,
        [keyHash],
      );
      const [challenge] = tried.rows;
      if (!challenge || !sameText(challenge.code_hash, sha256(`${onePassKey} ${vcode}`))) fail('CREDENTIAL_REFUSED');
      const { count } = await db.loginChallenge.deleteMany({ where: { id: challenge.id } });
      const account = await db.account.findUnique({ where: { id: challenge.account_id } });
      if (count !== 1 || account?.email !== place.email || account.kind !== place.kind) fail('CREDENTIAL_REFUSED');
      assertEnabled(account);

      await forgetAttempts(pool, place);
      const session = randomUUIDv7();
      const refreshToken = refresh.issue(session);
      const now = new Date();
      const endsAt = new Date(now);
      endsAt.setUTCFullYear(endsAt.getUTCFullYear() + LIFETIME_YEARS);
      const { address, device } = place;
      await db.session.create({
        data: { id: session, accountId: account.id, tokenHash: sha256(refreshToken), address, device, endsAt },
      });
      return tokens(account, session, refreshToken, now);
    },

    async refresh(kind: Family, given: string | undefined): Promise<Tokens> {
      const session = given === undefined ? null : refresh.sessionOf(given);
      if (given === undefined || session === null) fail('REFRESH_FAILED');
      // Before anything is exchanged: a token that is refused must still be good where it belongs.
      const account = await db.account.findFirst({ where: { kind, sessions: { some: { id: session } } } });
      if (!account) fail('REFRESH_FAILED');
      assertEnabled(account);
      const hash = sha256(given);
      const next = refresh.issue(session);
      // One statement decides which of several parallel calls exchanges the token.
      const exchanged = await pool.query<{ rotated_at: Date }>(
        `UPDATE sessions SET previous_hash = token_hash, token_hash = $3, successor = $4, rotated_at = now(), last_used_at = now()
         WHERE id = $1 AND token_hash = $2 AND revoked_at IS NULL AND ends_at > now()
           AND last_used_at > now() - interval '${IDLE_DAYS} days'
         RETURNING rotated_at`,
        [session, hash, sha256(next), secrets.seal(next, successorContext(session))],
      );
      const [row] = exchanged.rows;
      if (row) return tokens(account, session, next, row.rotated_at);

      const old = await db.session.findUnique({ where: { id: session } });
      if (!old || old.revokedAt) fail('REFRESH_FAILED');
      const isParallel = old.rotatedAt.getTime() > Date.now() - PARALLEL_SECONDS * 1000;
      if (old.previousHash === hash && old.successor !== null && isParallel)
        return tokens(account, session, secrets.open(old.successor, successorContext(session)), old.rotatedAt);
      // Ours once, and not the newest: somebody holds a copy. Whoever it is, the session ends.
      await db.session.updateMany({ where: { id: session, revokedAt: null }, data: { revokedAt: new Date() } });
      fail('REFRESH_FAILED');
    },

    async logout(actor: Actor, given: string | undefined): Promise<void> {
      if (given !== undefined && refresh.sessionOf(given) !== actor.sessionId) fail('REVOKE_FAILED');
      await db.session.updateMany({ where: { id: actor.sessionId, revokedAt: null }, data: { revokedAt: new Date() } });
    },

    account: (actor: Actor) => db.account.findUniqueOrThrow({ where: { id: actor.id } }),
  };
}

interface AccountRow {
  id: string;
  kind: Family;
  clientId: string | null;
  status: string;
  expiresAt: Date | null;
}

function assertEnabled({ status, expiresAt }: AccountRow) {
  if (status !== 'normal' || (expiresAt && expiresAt.getTime() <= Date.now())) fail('ACCOUNT_NOT_ENABLED');
}

const sameText = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const phrases: Record<string, { subject: string; text: (code: string) => string }> = {
  en: {
    subject: 'Your sign-in code',
    text: (code) =>
      `${code} is your sign-in code. It is valid for ${CODE_MINUTES} minutes.\n\nIf you did not sign in, change your password.\n`,
  },
  'zh-TW': {
    subject: '登入驗證碼',
    text: (code) => `您的登入驗證碼是 ${code}，${CODE_MINUTES} 分鐘內有效。\n\n如果不是您本人登入，請變更密碼。\n`,
  },
  'zh-CN': {
    subject: '登录验证码',
    text: (code) => `您的登录验证码是 ${code}，${CODE_MINUTES} 分钟内有效。\n\n如果不是您本人登录，请更改密码。\n`,
  },
};

function codeMail(code: string, language: string) {
  const { subject, text } = phrases[language] ?? phrases['en'] ?? fail('UNKNOWN');
  return { subject, text: text(code) };
}

/** Challenges, sessions and failures that have ended; called now and then. */
export async function sweepSessions({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  await pool.query('DELETE FROM login_challenges WHERE expires_at < now()');
  await pool.query(`DELETE FROM login_failures WHERE first_at < now() - interval '1 day'`);
  await pool.query(
    `DELETE FROM sessions WHERE ends_at < now() OR revoked_at < now() - interval '30 days' OR last_used_at < now() - interval '${IDLE_DAYS} days'`,
  );
}
