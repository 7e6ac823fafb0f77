// Changes a zone's key step by step. Each step is one transaction, and the rows store the progress, so that any process
// can continue. Connected nodes receive the new key before any document uses it. A node that is offline or late
// requests the key before it applies such a document (agent/src/link/key-follower.ts).
//
//   waiting ─▶ delivering ─▶ sealing ─▶ retiring ─▶ done
//
// delivering: nodes receive the new key in addition to the old one.
// sealing: the new key is the zone's key, and all documents are compiled again.
// retiring: nodes receive these documents. Then the control plane deletes the old key, and nodes delete it when
// notified.
import { randomBytes } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { lockClasses } from '../core/locks.ts';
import { contexts } from '../core/secrets.ts';
import type { Secrets } from '../core/secrets.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { withZone } from '../node-link/zone-lock.ts';
import { UNDER_WAY } from './ring.ts';

/** A connected node that has not taken the key within this time counts as offline. */
const DELIVER_WITHIN = '60 seconds';
/** After this an offline node no longer keeps the old key alive. Sooner when a node left that knows it. */
const GIVEN_UP_AFTER = { asked: '24 hours', nodeLeft: '1 hour' };
/** Documents per step, and the largest outbox before them, so that users' changes come in between. */
const BATCH = 1000;
const MOST_BEFORE = 500;

/** Documents that contain sealed secrets. */
const IS_SEALED = `(d.key LIKE 'cert/%' OR d.key LIKE 'module/%') AND strpos(d.body, '"iv":"') > 0`;

export interface Engine {
  pool: Pool;
  secrets: Pick<Secrets, 'seal'>;
  /** Makes nodes request their keys. Other nodes are notified by the reply to their next heartbeat. */
  notify: (nodeIds: readonly string[]) => void;
}

/** Joined nodes that never reported their keys run a version that holds one key only. */
const HELD_UP = `EXISTS (SELECT FROM nodes n LEFT JOIN node_states s ON s.node_id = n.id
  WHERE n.zone_id = c.zone_id AND n.public_key IS NOT NULL AND s.key_ids IS NULL)`;

/** Zones with an unfinished change that can continue. */
export async function zonesInChange(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT DISTINCT c.zone_id AS id FROM zone_key_changes c
     WHERE c.state = ANY($1) OR c.state = 'waiting' AND NOT ${HELD_UP}`,
    [UNDER_WAY],
  );
  return rows.map(({ id }) => id);
}

interface Change {
  id: string;
  zoneId: string;
  state: (typeof UNDER_WAY)[number];
  cause: keyof typeof GIVEN_UP_AFTER;
  cursor: string;
  lastOutbox: string;
  /** Another change is requested. */
  isFollowed: boolean;
}

/** Runs one step. Returns whether another may follow at once. */
export const stepZone = (engine: Engine, zoneId: string): Promise<boolean> =>
  withClient(engine.pool, async (client) => {
    const notifiedIds = new Set<string>();
    const moved = await inTransaction(client, async () => {
      // Another process is working on it.
      const held = await client.query('SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS held', [
        lockClasses.zoneKeys,
        zoneId,
      ]);
      if (held.rows[0]?.held !== true) return false;
      const change = await underWay(client, zoneId);
      const world = { ...engine, client, notify: (ids: readonly string[]) => ids.forEach((id) => notifiedIds.add(id)) };
      return change === null ? begin(world, zoneId) : steps[change.state](world, change);
    });
    // After the commit.
    if (notifiedIds.size > 0) engine.notify([...notifiedIds]);
    return moved;
  });

interface World extends Engine {
  client: PoolClient;
}

const steps: Record<Change['state'], (world: World, change: Change) => Promise<boolean>> = {
  delivering: deliver,
  sealing: seal,
  retiring: retire,
};

async function underWay(client: PoolClient, zoneId: string): Promise<Change | null> {
  const { rows } = await client.query<Change>(
    `SELECT c.id, c.zone_id AS "zoneId", c.state, c.cause, c.cursor, c.last_outbox AS "lastOutbox",
       EXISTS (SELECT FROM zone_key_changes w WHERE w.zone_id = c.zone_id AND w.state = 'waiting') AS "isFollowed"
     FROM zone_key_changes c WHERE c.zone_id = $1 AND c.state = ANY($2)`,
    [zoneId, UNDER_WAY],
  );
  return rows[0] ?? null;
}

/** Waits for nodes that cannot take another key. */
async function begin({ client, secrets, notify }: World, zoneId: string): Promise<boolean> {
  // A join locks the zone while it receives keys.
  await client.query('SELECT FROM zones WHERE id = $1 FOR UPDATE', [zoneId]);
  const key = secrets.seal(randomBytes(32).toString('base64'), contexts.zoneKey(zoneId));
  const { rowCount } = await client.query(
    `UPDATE zone_key_changes c SET state = 'delivering', since = now(), other_key = id::text, other_key_sealed = $2,
       documents = (SELECT count(*) FROM edge_documents d WHERE d.zone_id = $1 AND ${IS_SEALED})
     WHERE c.zone_id = $1 AND c.state = 'waiting' AND NOT ${HELD_UP}`,
    [zoneId, key],
  );
  if (rowCount === 0) return false;
  notify(await connectedNodes(client, zoneId));
  return true;
}

/** If a node left that received the new key, that key is discarded: nothing is sealed by it yet. */
async function deliver(world: World, { id, zoneId, isFollowed }: Change): Promise<boolean> {
  const { client, pool, notify } = world;
  if (isFollowed) return end(client, id, 'dropped');
  const { rows } = await client.query<{ lacking: string[]; isHeldUp: boolean }>(
    `SELECT ARRAY(SELECT n.id FROM nodes n JOIN node_states s ON s.node_id = n.id
         WHERE n.zone_id = c.zone_id AND n.public_key IS NOT NULL AND s.connected_at IS NOT NULL
           AND NOT s.key_ids @> to_jsonb(c.id::text) AND c.since > now() - $2::interval) AS lacking,
       ${HELD_UP} AS "isHeldUp"
     FROM zone_key_changes c WHERE c.id = $1`,
    [id, DELIVER_WITHIN],
  );
  const [{ lacking, isHeldUp } = { lacking: [], isHeldUp: true }] = rows;
  notify(lacking);
  if (lacking.length > 0 || isHeldUp) return false;
  // Under the publisher's lock: documents compiled with the old key are stored by then.
  const swapped = await withZone(pool, zoneId, async (publisher) => {
    await inTransaction(publisher, async () => {
      await publisher.query(
        `WITH before AS (SELECT key_name, key_sealed FROM zones WHERE id = $2), changed AS (
           UPDATE zone_key_changes c SET state = 'sealing', since = now(), other_key = b.key_name, other_key_sealed = b.key_sealed
           FROM before b WHERE c.id = $1)
         UPDATE zones z SET key_name = c.other_key, key_sealed = c.other_key_sealed, key_since = now()
         FROM zone_key_changes c WHERE z.id = $2 AND c.id = $1`,
        [id, zoneId],
      );
    });
    return true;
  });
  return swapped === true;
}

async function seal({ client, notify }: World, { id, zoneId, cursor, lastOutbox }: Change): Promise<boolean> {
  const before = await client.query<{ waiting: number }>(
    `SELECT count(*)::int AS waiting FROM (SELECT FROM outbox WHERE zone_id = $1 LIMIT ${MOST_BEFORE}) o`,
    [zoneId],
  );
  if (before.rows[0]?.waiting === MOST_BEFORE) return false;
  const { rows } = await client.query<{ queued: number }>(
    `WITH batch AS (
       SELECT d.key FROM edge_documents d WHERE d.zone_id = $2 AND d.key > $3 AND ${IS_SEALED} ORDER BY d.key LIMIT ${BATCH}
     ), added AS (INSERT INTO outbox (zone_id, key) SELECT $2, key FROM batch RETURNING id)
     UPDATE zone_key_changes SET queued = queued + b.keys, cursor = b.last, last_outbox = b.outbox
     FROM (SELECT (SELECT count(*)::int FROM batch) AS keys, (SELECT max(key) FROM batch) AS last, (SELECT max(id) FROM added) AS outbox) b
     WHERE zone_key_changes.id = $1 AND b.keys > 0 RETURNING b.keys AS queued`,
    [id, zoneId, cursor],
  );
  if (rows.length > 0) return true;
  // All compiled, stored and published. A document that fails to compile keeps the old key.
  const { rowCount } = await client.query(
    `UPDATE zone_key_changes c SET state = 'retiring', since = now(), sealed_revision = z.revision FROM zones z
     WHERE c.id = $1 AND z.id = c.zone_id AND NOT EXISTS (SELECT FROM outbox o WHERE o.zone_id = z.id AND o.id <= $2
       AND (o.key LIKE 'cert/%' OR o.key LIKE 'module/%'))`,
    [id, lastOutbox],
  );
  if (rowCount === 1) notify(await connectedNodes(client, zoneId));
  return rowCount === 1;
}

async function retire({ client, notify }: World, { id, zoneId, cause, isFollowed }: Change): Promise<boolean> {
  const { rows } = await client.query<{ isOver: boolean }>(
    `SELECT c.since < now() - $2::interval OR NOT EXISTS (
       SELECT FROM nodes n LEFT JOIN node_states s ON s.node_id = n.id
       WHERE n.zone_id = c.zone_id AND n.public_key IS NOT NULL
         AND (s.key_ids @> to_jsonb(c.id::text) AND s.revision >= c.sealed_revision) IS NOT TRUE
         -- The next one would wait for those that are away for nothing.
         AND ($3 IS FALSE OR s.connected_at IS NOT NULL AND c.since > now() - $4::interval)) AS "isOver"
     FROM zone_key_changes c WHERE c.id = $1`,
    [id, GIVEN_UP_AFTER[cause], isFollowed, DELIVER_WITHIN],
  );
  if (rows[0]?.isOver !== true) return false;
  notify(await connectedNodes(client, zoneId));
  return end(client, id, 'done');
}

async function end(client: PoolClient, id: string, state: 'done' | 'dropped'): Promise<true> {
  await client.query(
    `UPDATE zone_key_changes SET state = $2, since = now(), ended_at = now(), other_key = NULL, other_key_sealed = NULL WHERE id = $1`,
    [id, state],
  );
  return true;
}

async function connectedNodes(client: PoolClient, zoneId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT n.id FROM nodes n JOIN node_states s ON s.node_id = n.id
     WHERE n.zone_id = $1 AND n.public_key IS NOT NULL AND s.connected_at IS NOT NULL`,
    [zoneId],
  );
  return rows.map(({ id }) => id);
}
