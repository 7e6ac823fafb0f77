import type { Installation } from '../installation.ts';
import { IDLE_DAYS } from './token-pairs.ts';

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
