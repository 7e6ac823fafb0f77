// One pass of steering: reads all facts and probe results, and stores the groups' DNS answers. One process at a time.
// Another continues from stored state.
import { isDeepStrictEqual } from 'node:util';
import type { Pool, PoolClient } from 'pg';
import { locks } from '../core/locks.ts';
import { withClient } from '../node-link/transactions.ts';
import { wantSets } from '../dns-state/want-sets.ts';
import type { NodeProbe } from './node-probe.ts';
import { isLikelyServing } from '../modules/nodes/node-status.ts';
import { isAway, needsProbe, nodeHealthOf, withParents, type NodeHealth } from './node-health.ts';
import { steer, type GroupFacts, type Steered } from './steer.ts';
import { readWorld, type SeenWorld } from './world.ts';

/** Returns whether the result will change soon by time alone. */
export const steerAll = (pool: Pool, nodeProbe: NodeProbe): Promise<{ isUnsettled: boolean }> =>
  withClient(pool, async (client) => {
    // The database's clock: those of processes differ, and any may run the next pass.
    const { rows } = await client.query<{ now: Date }>(
      `SELECT clock_timestamp() AS now
       WHERE CASE WHEN EXISTS (SELECT FROM groups) THEN pg_try_advisory_lock($1) ELSE false END`,
      [locks.steering],
    );
    const [held] = rows;
    // The holder of the lock was woken too.
    if (!held) return { isUnsettled: false };
    const result = await pass(client, nodeProbe, held.now);
    await client.query('SELECT pg_advisory_unlock($1)', [locks.steering]);
    return result;
  });

async function pass(client: PoolClient, nodeProbe: NodeProbe, now: Date): Promise<{ isUnsettled: boolean }> {
  const looks = nodeProbe.found();
  const world = await readWorld(client, null);
  const found = new Map(
    world.nodes.values().map((node) => {
      // Without ports there is nothing to probe: an offline node is taken out by its status alone.
      const isLost = !world.ports.has(node.zoneId) && isAway(node, now) && !isLikelyServing(node, now);
      const reached = looks.get(node.id) ?? (isLost ? false : null);
      return [node.id, nodeHealthOf(node, world.before.get(node.id) ?? null, reached, now)];
    }),
  );
  nodeProbe.look(
    world.nodes
      .values()
      .filter((node) => needsProbe(node, now))
      .map(({ id, ip, zoneId }) => ({
        id,
        ip,
        ports: world.ports.get(zoneId) ?? [],
        isSuspect: isSuspect(found.get(id)),
      }))
      .toArray(),
  );
  await saveNodeHealth(client, found, world.before);
  const standings = withParents(world.nodes, found);
  // One operator's error must not affect others.
  const faults: unknown[] = [];
  for (const group of world.groups.values()) {
    try {
      const result = steer({ ...world, standings }, group.id, now);
      if (result) await saveGroup(client, group, result, now);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} groups could not be steered`);
  return { isUnsettled: found.values().some((standing) => standing.reason === 'recovering' || isSuspect(standing)) };
}

const isSuspect = (standing: NodeHealth | undefined) => standing?.isIn === true && standing.failures === 1;

async function saveNodeHealth(
  client: PoolClient,
  found: ReadonlyMap<string, NodeHealth>,
  before: SeenWorld['before'],
): Promise<void> {
  const changed = [...found].filter(([id, standing]) => !isDeepStrictEqual(standing, before.get(id)));
  if (changed.length === 0) return;
  const rows = changed.map(([id, standing]) => ({ id, ...standing }));
  // The node may have been removed since.
  await client.query(
    `INSERT INTO node_standings AS s (node_id, is_in, reason, since, well_since, failures, is_busy, monitor_status, monitor_since,
       monitor_clear_since, monitor_silent_since)
     SELECT r.id, r."isIn", r.reason, r.since, r."wellSince", r.failures, r."isBusy", r."monitorStatus", r."monitorSince",
       r."monitorClearSince", r."monitorSilentSince"
     FROM jsonb_to_recordset($1) AS r(id uuid, "isIn" boolean, reason text, since timestamptz, "wellSince" timestamptz, failures int, "isBusy" boolean,
       "monitorStatus" text, "monitorSince" timestamptz, "monitorClearSince" timestamptz,
       "monitorSilentSince" timestamptz)
     JOIN nodes n ON n.id = r.id
     ON CONFLICT (node_id) DO UPDATE SET is_in = excluded.is_in, reason = excluded.reason, since = excluded.since,
       well_since = excluded.well_since, failures = excluded.failures, is_busy = excluded.is_busy,
       monitor_status = excluded.monitor_status, monitor_since = excluded.monitor_since,
       monitor_clear_since = excluded.monitor_clear_since, monitor_silent_since = excluded.monitor_silent_since`,
    [JSON.stringify(rows)],
  );
}

/** Stores a group's records and displayed state together. Unchanged values are not written. */
async function saveGroup(client: PoolClient, group: GroupFacts, { state, sets, outcomes }: Steered, now: Date) {
  const shown = JSON.stringify(Object.fromEntries(outcomes));
  await client.query('BEGIN');
  try {
    // Locks the group, so that its records are not written again after its removal.
    const { rowCount } = await client.query('SELECT FROM groups WHERE id = $1 FOR KEY SHARE', [group.id]);
    if (rowCount === 1) {
      if (sets.length > 0) await wantSets(client, { clientId: group.clientId, label: group.dnsLabel }, sets);
      await client.query(
        `INSERT INTO group_states AS g (group_id, state, since, answered) VALUES ($1, $2, $3, $4)
         ON CONFLICT (group_id) DO UPDATE SET state = excluded.state, answered = excluded.answered,
           since = CASE WHEN g.state = excluded.state THEN g.since ELSE excluded.since END
         WHERE g.state <> excluded.state OR g.answered <> excluded.answered`,
        [group.id, state, now, shown],
      );
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
