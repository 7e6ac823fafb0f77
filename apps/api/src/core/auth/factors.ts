// The second factor of an account: a code of an authenticator or a recovery code.
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { Vcode } from '@edgeloom/contract/auth/auth.ts';
import type { Installation } from '../installation.ts';
import { countAttempt, forgetAttempts } from './attempts.ts';
import { sha256 } from './tokens.ts';

const STEP_SECONDS = 30;
/** Accepts a clock difference of one step. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const authenticatorContext = (accountId: string) => `authenticators/${accountId}/secret`;
export const newSecret = () => new Secret({ size: 20 }).base32;

export const totpOf = (secret: string, label = '') =>
  new TOTP({
    issuer: 'Edgeloom',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
    secret: Secret.fromBase32(secret),
  });

/** The 30-second step since 1970 that a code belongs to; null if it matches no present step. */
export function stepOf(secret: string, vcode: string, now = Date.now()): number | null {
  const delta = totpOf(secret).validate({ token: vcode, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / STEP_SECONDS) + delta;
}

/** 120 random bits each, so that a plain hash is enough. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const code = [...randomBytes(24)].map((byte) => letters.charAt(byte % 32)).join('');
    return code.replace(/.{6}(?=.)/g, '$&-');
  });

export const recoveryHash = (accountId: string, code: string) =>
  sha256(`${accountId} ${code.toUpperCase().replace(/[^A-Z2-7]/g, '')}`);

/** Returns true once for each valid code, also with concurrent calls. Ten wrong codes lock the factor for a while. */
export async function takeSecondFactor(
  { db, pool, secrets, mail }: Installation,
  accountId: string,
  vcode: string,
  address: string,
): Promise<boolean> {
  const attempt = { kind: 'second factor', email: accountId, address: '' };
  await countAttempt(pool, attempt);
  const isRight = Vcode.safeParse(vcode).success ? await takeCode() : await takeRecoveryCode();
  if (isRight) await forgetAttempts(pool, attempt);
  return isRight;

  async function takeCode() {
    const authenticator = await db.authenticator.findUnique({ where: { accountId } });
    if (!authenticator) return false;
    const step = stepOf(secrets.open(authenticator.secretSealed, authenticatorContext(accountId)), vcode);
    if (step === null) return false;
    const { count } = await db.authenticator.updateMany({
      where: { accountId, lastStep: { lt: step } },
      data: { lastStep: step },
    });
    return count === 1;
  }

  function takeRecoveryCode() {
    return db.$transaction(async (tx) => {
      const { count } = await tx.recoveryCode.deleteMany({ where: { accountId, id: recoveryHash(accountId, vcode) } });
      if (count !== 1) return false;
      const account = await tx.account.findUniqueOrThrow({ where: { id: accountId } });
      await mail.post(tx, account, 'recoveryUsed', { address });
      return true;
    });
  }
}
