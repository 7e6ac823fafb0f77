// Reads and writes rollouts within the holder's transaction.
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { clean } from '../node-link/incoming.ts';
import { upgradeStatusOf } from './node-transitions.ts';
import { NodeRecord, RolloutHead, WaveRecord, type RolloutRecord } from './rollout-state.ts';
import type { RolloutChanges } from './rollout-changes.ts';

/** The writer: the process with the lease, or a node's report. */
export type Holder = { claim: string } | { reporter: string };

/** SQL for node `n` of rollout `r`: another rollout has started on it or brings something newer. */
export const isTaken = `EXISTS (
  SELECT FROM rollout_nodes o JOIN rollouts other ON other.id = o.rollout_id
  WHERE o.node_id = n.node_id AND o.rollout_id <> n.rollout_id
    AND (o.active OR other.kind = r.kind AND other.target->'product' = r.target->'product' AND other.created_at > r.created_at))`;

/**
 * Locks it until the end of the transaction. Null: gone, or leased to another process. For a reporter, only its own
 * node is loaded.
 */
export async function lockRollout(client: PoolClient, id: string, holder: Holder): Promise<RolloutRecord | null> {
  const claim = 'claim' in holder ? holder.claim : null;
  const reporter = 'reporter' in holder ? holder.reporter : null;
  // Lock order: zone, then rollout (as zone-changes.service.ts). FOR NO KEY UPDATE, because block-set writers hold the
  // set and need a key-share lock on the zone.
  await client.query(
    `SELECT FROM zones WHERE id IN (
       SELECT z.zone_id FROM rollout_zones z JOIN rollouts r ON r.id = z.rollout_id WHERE r.id = $1 AND r.kind = 'zone')
     ORDER BY id FOR NO KEY UPDATE`,
    [id],
  );
  const { rows } = await client.query<Record<string, unknown>>(
    `SELECT id, kind, target, title, state, fast, wave, strategy, fault, message, message_code AS "messageCode", created_at AS "createdAt", ended_at AS "endedAt"
     FROM rollouts WHERE id = $1 AND ($2::uuid IS NULL OR claimed_by = $2) FOR UPDATE`,
    [id, claim],
  );
  if (!rows[0]) return null;
  const waves = await client.query<Record<string, unknown>>(
    `SELECT position, percent, state, started_at AS "startedAt", soak_ends_at AS "soakEndsAt", ended_at AS "endedAt", gates
     FROM rollout_waves WHERE rollout_id = $1 ORDER BY position`,
    [id],
  );
  const nodes = await client.query<Record<string, unknown>>(
    `SELECT n.node_id AS "nodeId", m.name, m.zone_id AS "zoneId", n.wave, n.state, n.phase, n.order_key AS "orderKey", n.before,
       n.message, n.message_code AS "messageCode", n.baseline, n.metrics, n.started_at AS "startedAt", n.ended_at AS "endedAt", n.active,
       n.state = 'away' AND ${isTaken} AS "isTaken",
       coalesce(m.joined_at IS NULL OR m.joined_at > n.started_at OR m.zone_id::text <> r.target->>'zoneID', false) AS "isGone",
       m.enabled AND m.kind = 'edge' AS "isServing", m.role = 'main' AS "isMain",
       s.connected_at IS NOT NULL AS "isConnected",
       CASE WHEN s.connected_at IS NULL THEN s.disconnected_at END AS "awaySince",
       coalesce(s.version, '') AS version, s.release, coalesce(s.packs, '{}') AS packs, s.nginx, s.error,
       coalesce(s.rejected, '[]') AS rejected, s.last_seen_at AS "lastSeenAt", coalesce(s.revision, 0) AS revision
     FROM rollouts r JOIN rollout_nodes n ON n.rollout_id = r.id JOIN nodes m ON m.id = n.node_id
     LEFT JOIN node_states s ON s.node_id = n.node_id
     WHERE r.id = $1 AND ($2::uuid IS NULL OR n.node_id = $2) ORDER BY m.name, m.id`,
    [id, reporter],
  );
  return {
    ...RolloutHead.parse(rows[0]),
    waves: z.array(WaveRecord).parse(waves.rows),
    nodes: z.array(NodeRecord).parse(nodes.rows),
  };
}

/** The customers who own these sites. The operator's own are omitted. */
export async function ownersOfSites(pool: Pool, sites: readonly string[]): Promise<Map<string, string>> {
  if (sites.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; owner: string }>(
    'SELECT id, owner_id AS owner FROM sites WHERE id = ANY($1::uuid[]) AND owner_id IS NOT NULL',
    [sites],
  );
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}

/** Customers with served sites in its zones, including the operator for its own. */
export async function countCustomers(client: PoolClient, id: string): Promise<number> {
  const { rows } = await client.query<{ customers: number }>(
    `SELECT count(DISTINCT coalesce(owner_id, client_id))::int AS customers FROM sites
     WHERE status = 'normal' AND zone_id IN (SELECT zone_id FROM rollout_zones WHERE rollout_id = $1)`,
    [id],
  );
  return rows[0]?.customers ?? 0;
}

/** Whether another rollout has one of its nodes. A rollout that has started waits for no other. */
export async function isBlocked(client: PoolClient, { id, createdAt, state, nodes }: RolloutRecord): Promise<boolean> {
  if (state !== 'waiting' || nodes.every(({ active }) => active)) return false;
  const { rows } = await client.query<{ behind: boolean }>(
    `SELECT EXISTS (
       SELECT FROM rollout_nodes mine JOIN rollout_nodes o ON o.node_id = mine.node_id AND o.rollout_id <> mine.rollout_id
       JOIN rollouts r ON r.id = o.rollout_id
       WHERE mine.rollout_id = $1
         AND (o.active OR r.state = 'waiting' AND (r.created_at, r.id) < ($2, $1::uuid))
     ) AS behind`,
    [id, createdAt],
  );
  return rows[0]?.behind === true;
}

/** Stores the changes of a changes. `was`: its head before. */
export async function saveChanges(
  client: PoolClient,
  changes: RolloutChanges,
  previous: RolloutRecord,
  now: Date,
): Promise<void> {
  const { rollout } = changes;
  // Only if changed, since it wakes the workers.
  if (headOf(rollout) !== headOf(previous))
    await client.query(
      `UPDATE rollouts SET state = $2, fast = $3, wave = $4, fault = $5, message = $6, message_code = $7, ended_at = $8 WHERE id = $1`,
      [
        rollout.id,
        rollout.state,
        rollout.fast,
        rollout.wave,
        rollout.fault,
        rollout.message,
        rollout.messageCode,
        rollout.endedAt,
      ],
    );
  if (changes.waves.size > 0)
    await client.query(
      `UPDATE rollout_waves w SET state = x.state, started_at = x."startedAt", soak_ends_at = x."soakEndsAt", ended_at = x."endedAt",
         gates = x.gates
       FROM jsonb_to_recordset($2::jsonb) AS x(position int, state text, "startedAt" timestamptz, "soakEndsAt" timestamptz,
         "endedAt" timestamptz, gates jsonb)
       WHERE w.rollout_id = $1 AND w.position = x.position`,
      [rollout.id, JSON.stringify([...changes.waves])],
    );
  if (changes.nodes.size > 0) await saveNodes(client, rollout, [...changes.nodes]);
  if (changes.lines.length > 0)
    await client.query(
      `INSERT INTO rollout_lines (rollout_id, node_id, at, event, wave, detail, message, message_code)
       SELECT $1, x."nodeId", $3, x.event, x.wave, x.detail, x.message, nullif(x."messageCode", 'null')
       FROM jsonb_to_recordset($2::jsonb)
         AS x("nodeId" uuid, event text, wave int, detail text, message text, "messageCode" jsonb, place int) ORDER BY x.place`,
      [rollout.id, JSON.stringify(changes.lines.map((line, place) => ({ ...line, place, wave: rollout.wave }))), now],
    );
}

const headOf = ({ state, fast, wave, fault, message, endedAt }: RolloutRecord) =>
  JSON.stringify([state, fast, wave, fault, message, endedAt]);

async function saveNodes(client: PoolClient, { id, kind }: RolloutRecord, nodes: NodeRecord[]) {
  const rows = nodes.map((node) => ({
    ...node,
    message: node.message === null ? null : clean(node.message),
    upgrade: kind === 'release' ? (upgradeStatusOf[node.state] ?? null) : null,
  }));
  await client.query(
    `UPDATE rollout_nodes r SET wave = x.wave, state = x.state, phase = x.phase, order_key = x."orderKey", before = x.before,
       message = x.message, message_code = nullif(x."messageCode", 'null'), baseline = x.baseline,
       metrics = x.metrics, started_at = x."startedAt", ended_at = x."endedAt", active = x.active
     FROM jsonb_to_recordset($2::jsonb) AS x("nodeId" uuid, wave int, state text, phase text, "orderKey" uuid, before jsonb,
       message text, "messageCode" jsonb, baseline jsonb, metrics jsonb, "startedAt" timestamptz, "endedAt" timestamptz, active bool)
     WHERE r.rollout_id = $1 AND r.node_id = x."nodeId"`,
    [id, JSON.stringify(rows)],
  );
  await client.query(
    `UPDATE node_states s SET upgrade = x.upgrade FROM jsonb_to_recordset($1::jsonb) AS x("nodeId" uuid, upgrade text)
     WHERE s.node_id = x."nodeId" AND s.upgrade <> x.upgrade`,
    [JSON.stringify(rows)],
  );
}
