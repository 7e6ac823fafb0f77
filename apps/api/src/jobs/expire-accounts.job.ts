// Expires accounts by date. Triggers disable their sites and end their sessions. A lock has precedence.
import type { Installation } from '../core/installation.ts';

export async function expireAccounts({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  await pool.query(
    `UPDATE accounts SET status = 'expired', updated_at = now() WHERE expires_at <= now() AND status IN ('normal', 'pause')`,
  );
}
