// How groups say what their names answer. The rest follows by itself: a trigger has the names worked out again
// (plan.ts), below each suffix of the operator, and the reconciler brings them to the providers.
import type { PoolClient } from 'pg';
import type { WantedSet } from './sets.ts';

/**
 * All sets of a label, instead of those it had, in the caller's transaction. What is said again changes nothing. A line without a set is
 * answered as `default`; none at all takes the label's names away. No set has values that are not an address of its type or a host name.
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

/** The same sets in another order are the same. */
const sorted = (sets: readonly WantedSet[]) =>
  sets
    .map((set) => ({ ...set, values: set.values.toSorted((a, b) => (a.value < b.value ? -1 : 1)) }))
    .toSorted((a, b) => (`${a.type} ${a.line}` < `${b.type} ${b.line}` ? -1 : 1));
