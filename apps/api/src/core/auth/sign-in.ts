// Signing in by password and a second factor: a mailed code, an authenticator or a passkey.
import { randomBytes, randomInt, randomUUIDv7 } from 'node:crypto';
import type { Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { fail } from '../fail.ts';
import type { Installation } from '../installation.ts';
import { assertEnabled } from './assert-enabled.ts';
import { countAttempt, forgetAttempts, type Attempt } from './attempts.ts';
import { takeSecondFactor } from './factors.ts';
import { mustVerify } from './must-verify.ts';
import { isPassword } from './passwords.ts';
import type { Sessions } from './sessions.ts';
import type { Device } from './token-pairs.ts';
import { sameText, sha256 } from './tokens.ts';

const CODE_MINUTES = 10;
const CODE_TRIES = 5;
const OPEN_CHALLENGES = 5;

type DeviceAttempt = Attempt & Device;

/** A sign-in whose password was correct and whose second factor is missing. */
interface Challenge {
  id: string;
  accountId: string;
  /** Null: an authenticator decides. */
  codeHash: string | null;
}

export class SignIn {
  readonly #installation: Installation;
  readonly #sessions: Sessions;

  constructor(installation: Installation, sessions: Sessions) {
    this.#installation = installation;
    this.#sessions = sessions;
  }

  async login(attempt: DeviceAttempt, password: string) {
    const { db, pool, mail } = this.#installation;
    await countAttempt(pool, attempt);
    const where = { kind_email: { kind: attempt.kind, email: attempt.email } };
    const account = await db.account.findUnique({ where });
    if (!(await isPassword(account?.passwordHash ?? null, password)) || !account) fail('CREDENTIAL_REFUSED');
    await assertEnabled(pool, account.id);

    const onePassKey = randomBytes(32).toString('base64url');
    const vcode = String(randomInt(1_000_000)).padStart(6, '0');
    const { type, passkey } = await this.#factorsOf(account);
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
  }

  async code(attempt: DeviceAttempt, { onePassKey, vcode }: { onePassKey: string; vcode: string }): Promise<Tokens> {
    const challenge = await this.#tryChallenge(onePassKey);
    const isCorrect =
      challenge.codeHash === null
        ? await takeSecondFactor(this.#installation, challenge.accountId, vcode, attempt.address)
        : sameText(challenge.codeHash, sha256(`${onePassKey} ${vcode}`));
    if (!isCorrect) fail('CREDENTIAL_REFUSED');
    return this.#finish(attempt, challenge);
  }

  /** Signs in with a passkey instead of a code. `check` verifies it for the account. */
  async codeByPasskey(
    device: Device,
    onePassKey: string,
    check: (accountId: string) => Promise<void>,
  ): Promise<{ tokens: Tokens; email: string }> {
    const challenge = await this.#tryChallenge(onePassKey);
    await check(challenge.accountId);
    const { email } = await this.#installation.db.account.findUniqueOrThrow({ where: { id: challenge.accountId } });
    return { tokens: await this.#finish({ ...device, email }, challenge), email };
  }

  /** The account of a sign-in that waits for its second factor. */
  async getChallengedAccount(kind: Family, onePassKey: string): Promise<{ id: string }> {
    const where = { keyHash: sha256(onePassKey), expiresAt: { gt: new Date() }, account: { kind } };
    const challenge = await this.#installation.db.loginChallenge.findFirst({ where });
    return challenge ? { id: challenge.accountId } : fail('CREDENTIAL_REFUSED');
  }

  async #factorsOf({ id, login2faType, clientId }: { id: string; login2faType: number; clientId: string | null }) {
    const { db } = this.#installation;
    const [needsCode, authenticators, passkeys] = await Promise.all([
      mustVerify(db, clientId),
      db.authenticator.count({ where: { accountId: id } }),
      db.passkey.count({ where: { accountId: id } }),
    ]);
    const type =
      login2faType === 2 && !needsCode
        ? (2 as const)
        : login2faType === 1 && authenticators > 0
          ? (1 as const)
          : (0 as const);
    return { type, passkey: passkeys > 0 };
  }

  /** Counts first, so that parallel attempts share the five tries. */
  async #tryChallenge(onePassKey: string): Promise<Challenge> {
    const { rows } = await this.#installation.pool.query<{ id: string; code_hash: string | null; account_id: string }>(
      `UPDATE login_challenges SET tries = tries + 1
       WHERE key_hash = $1 AND expires_at > now() AND tries < ${CODE_TRIES} RETURNING id, code_hash, account_id`,
      [sha256(onePassKey)],
    );
    const [row] = rows;
    return row ? { id: row.id, codeHash: row.code_hash, accountId: row.account_id } : fail('CREDENTIAL_REFUSED');
  }

  async #finish(attempt: DeviceAttempt, challenge: Challenge): Promise<Tokens> {
    const { db, pool } = this.#installation;
    const { count } = await db.loginChallenge.deleteMany({ where: { id: challenge.id } });
    const account = await db.account.findUnique({ where: { id: challenge.accountId } });
    if (count !== 1 || account?.email !== attempt.email) fail('CREDENTIAL_REFUSED');
    const tokens = await this.#sessions.start(attempt, account);
    await forgetAttempts(pool, attempt);
    return tokens;
  }
}
