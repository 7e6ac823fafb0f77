// The clock: an account whose date has passed is expired, and triggers take its sites out of service and end its sessions.
// A lock is kept: it is somebody's decision, and stronger.
import type { Installation } from '../core/installation.ts';

export async function expireAccounts({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  await pool.query(
    `UPDATE accounts SET status = 'expired', updated_at = now() WHERE expires_at <= now() AND status IN ('normal', 'pause')`,
  );
}
