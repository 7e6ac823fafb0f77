// Looks up due TXT records in every process. A row is leased for 10 minutes and due again if its process dies.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { lookFor, type DueProof } from '../modules/domains/name-proofs.service.ts';
import { repeat } from '../node-link/repeat.ts';

const BATCH = 50;
/** A customer with thousands of names must not delay the others. */
const BATCH_PER_HOLDER = 5;
const CHECK_INTERVAL_MS = 5000;
const TAKE = `UPDATE name_proofs p SET due_at = now() + interval '10 minutes'
  FROM (SELECT id FROM name_proofs WHERE due_at <= now() AND id IN (
      SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY holder_id ORDER BY due_at, id) AS nth
        FROM name_proofs WHERE due_at <= now()) d WHERE nth <= ${BATCH_PER_HOLDER})
    ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) due, proof_tokens t
  WHERE p.id = due.id AND t.holder_id = p.holder_id RETURNING p.id, p.name, t.token`;
/**
 * Deletes proofs whose customer has no domain with the name, unless proven within 7 days, when they are valid for a new
 * domain. Deletes proofs older than 7 days whose domains are all enabled. Skips locked rows, since waiting could
 * deadlock.
 */
const SWEEP = `DELETE FROM name_proofs WHERE id IN (
  SELECT p.id FROM name_proofs p WHERE (p.proven_at IS NULL OR p.proven_at < now() - interval '7 days')
    AND NOT EXISTS (SELECT FROM domains d JOIN sites s ON s.id = d.site_id
      WHERE coalesce(s.owner_id, s.client_id) = p.holder_id AND name_base(d.name) = p.name
        AND (NOT d.enabled OR coalesce(p.proven_at, p.asked_at) >= now() - interval '7 days'))
  FOR UPDATE SKIP LOCKED)`;

/** Returns the number of due proofs. */
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
  const checkAll = async () => {
    // A partial batch may have left more proofs of one customer.
    while (!isStopping && (await checkDueProofs(installation)) > 0);
  };
  const checks = repeat(checkAll, CHECK_INTERVAL_MS, log, 'proofs of names not checked');
  return {
    async stop() {
      isStopping = true;
      await checks.stop();
    },
  };
}
