// Looks for the TXT records of names that wait for a proof. Each process does; a proof is one process's at a time, and is due again
// if that process dies.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { lookFor, type DueProof } from '../modules/domains/name-proofs.service.ts';

const BATCH = 50;
const LOOK_AGAIN_MS = 5000;
const TAKE = `UPDATE name_proofs p SET due_at = now() + interval '10 minutes'
  FROM (SELECT id FROM name_proofs WHERE due_at <= now() ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) due, proof_tokens t
  WHERE p.id = due.id AND t.holder_id = p.holder_id RETURNING p.id, p.name, t.token`;
/** No domain waits for them, and they are no longer good for a new one. */
const SWEEP = `DELETE FROM name_proofs p WHERE coalesce(p.proven_at, p.asked_at) < now() - interval '7 days' AND NOT EXISTS (
  SELECT FROM sites s JOIN domains d ON d.site_id = s.id AND d.name IN (p.name, '*.' || p.name)
  WHERE coalesce(s.owner_id, s.client_id) = p.holder_id AND NOT d.enabled)`;

/** Answers how many proofs were due. */
export async function checkDueProofs(installation: Pick<Installation, 'pool' | 'env'>): Promise<number> {
  const { rows } = await installation.pool.query<DueProof>(TAKE);
  await lookFor(installation, rows);
  return rows.length;
}

export const sweepProofs = ({ pool }: Pick<Installation, 'pool'>) => pool.query(SWEEP);

export function startNameProofChecks(
  installation: Installation,
  log: FastifyBaseLogger,
): { stop: () => Promise<void> } {
  let isStopping = false;
  let running: Promise<void> | null = null;

  async function drain() {
    while (!isStopping && (await checkDueProofs(installation)) === BATCH);
  }
  const look = () => {
    if (isStopping) return;
    running ??= drain()
      .catch((error: unknown) => log.warn({ err: error }, 'proofs of names not checked'))
      .finally(() => (running = null));
  };
  const timer = setInterval(look, LOOK_AGAIN_MS).unref();
  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
