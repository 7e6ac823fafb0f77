// Stores nodes' upgrade reports before acknowledging them. Nodes repeat unacknowledged ones, and repeated reports
// change nothing.
import type { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { verbatim } from '@edgeloom/contract/rollouts/messages.ts';
import type { Pool } from 'pg';
import { clean } from '../node-link/incoming.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { NodeRecord } from './rollout-state.ts';
import { lockRollout, saveChanges } from './rollout-store.ts';
import { RolloutChanges } from './rollout-changes.ts';

/** A node reports about ten lines per rollout. More are ignored. */
const MAX_LINES = 100;
const steps: readonly NodeRecord['phase'][] = ['asked', 'accepted', 'fetching', 'switching'];

export async function storeUpgradeReport(
  pool: Pool,
  nodeId: string,
  { upgradeID, state, message }: UpgradeReport,
  now: Date,
): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT n.rollout_id AS id FROM rollout_nodes n WHERE n.node_id = $1 AND n.order_key = $2
       AND (SELECT count(*) FROM rollout_lines l WHERE l.rollout_id = n.rollout_id AND l.node_id = n.node_id
            AND l.event NOT IN ('asked', 'rollbackRequested', 'away')) < $3`,
    [nodeId, upgradeID, MAX_LINES],
  );
  // The order was cancelled, the limit was reached, or the rollout is gone.
  if (!rows[0]) return;
  const { id } = rows[0];
  await withClient(pool, (client) =>
    inTransaction(client, async () => {
      const rollout = await lockRollout(client, id, { reporter: nodeId });
      const node = rollout?.nodes.find(({ orderKey }) => orderKey === upgradeID);
      if (!rollout || !node) return;
      const previous = structuredClone(rollout);
      const changes = new RolloutChanges(rollout, now);
      if (state === 'fetching' || state === 'switching') advancePhase(changes, node, state);
      else changes.transition(node, state, message === '' ? null : verbatim(clean(message)));
      await saveChanges(client, changes, previous, now);
      if (changes.hasProgressed) await client.query(`SELECT pg_notify('rollouts', '')`);
    }),
  );
}

function advancePhase(changes: RolloutChanges, node: NodeRecord, phase: 'fetching' | 'switching') {
  if (node.phase === null || steps.indexOf(node.phase) >= steps.indexOf(phase)) return;
  node.phase = phase;
  changes.nodes.add(node);
  changes.log(phase, { nodeId: node.nodeId });
}
