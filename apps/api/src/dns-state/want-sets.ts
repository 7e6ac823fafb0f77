// Sets the wanted records of groups. A trigger then recomputes names (plan.ts) under each suffix of the operator, and
// the reconciler updates the providers.
import type { PoolClient } from 'pg';
import type { WantedSet } from './sets.ts';

/**
 * Replaces all sets of a label in the caller's transaction. Equal sets change nothing. Lines without a set use
 * `default`. No sets delete the label's names. Values must be addresses of the set's type or host names.
 */
export async function wantSets(
  tx: Pick<PoolClient, 'query'>,
  { clientId, label }: { clientId: string; label: string },
  sets: readonly WantedSet[],
): Promise<void> {
  if (sets.length === 0) {
    await tx.query('DELETE FROM dns_targets WHERE client_id = $1 AND label = $2', [clientId, label]);
    return;
  }
  await tx.query(
    `INSERT INTO dns_targets (client_id, label, sets) VALUES ($1, $2, $3)
     ON CONFLICT (client_id, label) DO UPDATE SET sets = excluded.sets, updated_at = now() WHERE dns_targets.sets <> excluded.sets`,
    [clientId, label, JSON.stringify(sorted(sets))],
  );
}

/** The order of sets is insignificant. */
const sorted = (sets: readonly WantedSet[]) =>
  sets
    .map((set) => ({ ...set, values: set.values.toSorted((a, b) => (a.value < b.value ? -1 : 1)) }))
    .toSorted((a, b) => (`${a.type} ${a.line}` < `${b.type} ${b.line}` ? -1 : 1));
