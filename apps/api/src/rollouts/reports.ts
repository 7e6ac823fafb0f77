// Stores nodes' upgrade reports before acknowledging them. Nodes repeat unacknowledged ones, and repeated reports
// change nothing.
import type { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { ownWords } from '@edgeloom/contract/rollouts/sayings.ts';
import type { Pool } from 'pg';
import { clean } from '../node-link/incoming.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { NodeNow } from './now.ts';
import { holdRollout, keepTurn } from './rows.ts';
import { Turn } from './turn.ts';

/** A node reports about ten lines per rollout. More are ignored. */
const MOST_LINES = 100;
const steps: readonly NodeNow['phase'][] = ['asked', 'accepted', 'fetching', 'switching'];

export async function storeUpgradeReport(
  pool: Pool,
  nodeId: string,
  { upgradeID, state, message }: UpgradeReport,
  now: Date,
): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT n.rollout_id AS id FROM rollout_nodes n WHERE n.node_id = $1 AND n.order_key = $2
       AND (SELECT count(*) FROM rollout_lines l WHERE l.rollout_id = n.rollout_id AND l.node_id = n.node_id
            AND l.event NOT IN ('asked', 'askedBack', 'away')) < $3`,
    [nodeId, upgradeID, MOST_LINES],
  );
  // The order was cancelled, the limit was reached, or the rollout is gone.
  if (!rows[0]) return;
  const { id } = rows[0];
  await withClient(pool, (client) =>
    inTransaction(client, async () => {
      const rollout = await holdRollout(client, id, { reporter: nodeId });
      const node = rollout?.nodes.find(({ orderKey }) => orderKey === upgradeID);
      if (!rollout || !node) return;
      const was = structuredClone(rollout);
      const turn = new Turn(rollout, now);
      if (state === 'fetching' || state === 'switching') goFurther(turn, node, state);
      else turn.happen(node, state, message === '' ? null : ownWords(clean(message)));
      await keepTurn(client, turn, was, now);
      if (turn.isNews) await client.query(`SELECT pg_notify('rollouts', '')`);
    }),
  );
}

function goFurther(turn: Turn, node: NodeNow, phase: 'fetching' | 'switching') {
  if (node.phase === null || steps.indexOf(node.phase) >= steps.indexOf(phase)) return;
  node.phase = phase;
  turn.nodes.add(node);
  turn.say(phase, { nodeId: node.nodeId });
}
