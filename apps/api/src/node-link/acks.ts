// Stores nodes' acks and heartbeats. Concurrent messages become one statement.
import { toggle } from '@edgeloom/contract/edge/digest.ts';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { Ack, Heartbeat, HeartbeatReply } from '@edgeloom/contract/edge/messages.ts';
import { KeyID } from '@edgeloom/contract/edge/sealed.ts';
import type { Pool } from 'pg';
import { ringNames } from '../zone-keys/ring.ts';
import { clean } from './incoming.ts';
import { receiptsByRevision } from './receipts.ts';

export interface FromNode<Message> {
  nodeId: string;
  message: Message;
}

/** Only the newest per node: one statement cannot update a row twice. */
const newest = <Item extends { nodeId: string }>(items: Item[]) => [
  ...new Map(items.map((item) => [item.nodeId, item])).values(),
];

const rejectedJson = (rejected: Ack['rejected']) =>
  JSON.stringify(
    rejected.slice(0, 100).map(({ key, revision, error }) => ({ key: clean(key, 300), revision, error: clean(error) })),
  );

const patternsJson = (patterns: Heartbeat['patterns'] = []) =>
  JSON.stringify(
    patterns.map(({ site, rule, error }) => ({ site: clean(site), rule: clean(rule), error: clean(error, 500) })),
  );

const packsJson = (packs: Readonly<Record<string, string>>) =>
  JSON.stringify(Object.fromEntries(Object.entries(packs).map(([name, version]) => [clean(name), clean(version)])));

/** Several processes may handle a node's acks, so a late one must not overwrite a newer one. */
export async function storeAcks(pool: Pool, items: FromNode<Ack>[]): Promise<true[]> {
  const acks = newest(items);
  await pool.query(
    `INSERT INTO node_states AS s (node_id, revision, rejected, synced_at, last_seen_at)
     SELECT n.id, a.revision, a.rejected::jsonb, now(), now()
     FROM unnest($1::uuid[], $2::int[], $3::text[]) AS a(node_id, revision, rejected) JOIN nodes n ON n.id = a.node_id
     ON CONFLICT (node_id) DO UPDATE SET
       revision = greatest(s.revision, excluded.revision),
       rejected = CASE WHEN excluded.revision >= s.revision THEN excluded.rejected ELSE s.rejected END,
       synced_at = CASE WHEN excluded.revision >= s.revision THEN excluded.synced_at ELSE s.synced_at END,
       last_seen_at = excluded.last_seen_at`,
    [
      acks.map(({ nodeId }) => nodeId),
      acks.map(({ message }) => message.revision),
      acks.map(({ message }) => rejectedJson(message.rejected)),
    ],
  );
  await receiptsByRevision(
    pool,
    acks.map(({ nodeId, message: { revision, rejected, tookMs } }) => ({
      nodeId,
      revision,
      rejected: rejectedJson(rejected),
      tookMs: Math.max(0, tookMs),
    })),
  );
  return items.map(() => true);
}

/** With the time of arrival, before batching. */
export interface ReceivedHeartbeat extends FromNode<Heartbeat> {
  receivedAt: number;
}

/** The node's clock offset. Transit time is negligible. */
function clockOffsetOf({ clock }: Heartbeat, receivedAt: number): number | null {
  if (clock === undefined) return null;
  const offset = Math.round(Date.parse(clock) - receivedAt);
  return Math.min(Math.max(offset, -2_147_483_648), 2_147_483_647);
}

/**
 * SQL: the node may have built the heartbeat before its newest ack. A node's revision decreases only when it loses
 * documents; then a later heartbeat lowers it. A heartbeat is stored within seconds.
 */
const IS_BEFORE_ACK = `excluded.revision < s.revision AND coalesce(s.synced_at > now() - interval '15 seconds', false)`;

/** Log lines that were deleted unsent since the agent's start. */
const droppedLines = ({ load }: Heartbeat) =>
  Math.min(Math.trunc(load?.logs?.droppedLines ?? 0), Number.MAX_SAFE_INTEGER);

/** SQL: the heartbeat is a late one, of the agent before the last restart. Its lines were counted. */
const IS_PREVIOUS_AGENT = `coalesce(excluded.agent_started_at = s.previous_agent_started_at, false)`;
/** SQL: the agent has restarted since the last heartbeat. */
const IS_NEW_AGENT = `(NOT ${IS_PREVIOUS_AGENT} AND coalesce(excluded.agent_started_at <> s.agent_started_at, false))`;
/** SQL: a new agent starts at zero. Heartbeats may arrive twice or late, so the count of one agent only rises. */
const DROPPED = `CASE WHEN ${IS_NEW_AGENT} THEN excluded.logs_dropped WHEN ${IS_PREVIOUS_AGENT} THEN s.logs_dropped
  ELSE greatest(s.logs_dropped, excluded.logs_dropped) END`;
/** SQL: lines that were deleted unsent since the last heartbeat. */
const NEWLY_LOST = `(${DROPPED} - CASE WHEN ${IS_NEW_AGENT} THEN 0 ELSE s.logs_dropped END)`;

/**
 * The newest heartbeat of each agent, in lists with one per node. Two lists have a node whose agent restarted within
 * the batch, so that lines which only the earlier agent counted are stored.
 */
function perAgent(items: ReceivedHeartbeat[]): ReceivedHeartbeat[][] {
  const byNode = new Map<string, Map<string, ReceivedHeartbeat>>();
  for (const item of items) {
    const byAgent = byNode.get(item.nodeId) ?? new Map<string, ReceivedHeartbeat>();
    byNode.set(item.nodeId, byAgent.set(item.message.startedAt, item));
  }
  const lists: ReceivedHeartbeat[][] = [];
  for (const byAgent of byNode.values())
    for (const [i, item] of [...byAgent.values()].entries()) (lists[i] ??= []).push(item);
  return lists;
}

/** Null for an unknown node. */
export async function storeHeartbeats(
  pool: Pool,
  items: ReceivedHeartbeat[],
): Promise<{ reply: HeartbeatReply | null }[]> {
  const expected = await readExpected(
    pool,
    items.map(({ nodeId }) => nodeId),
  );
  const known = items.filter(({ nodeId }) => expected.has(nodeId));
  for (const beats of perAgent(known)) await storeBeats(pool, beats, expected);
  return items.map(({ nodeId }) => ({ reply: expected.get(nodeId) ?? null }));
}

/** One per node: one statement cannot update a row twice. */
async function storeBeats(
  pool: Pool,
  beats: readonly ReceivedHeartbeat[],
  expected: ReadonlyMap<string, HeartbeatReply>,
): Promise<void> {
  await pool.query(
    `INSERT INTO node_states AS s (node_id, revision, digest, digest_agrees, version, nginx, error, rejected, capabilities,
       load, clock_offset_ms, release, packs, key_ids, failing_patterns, agent_started_at, logs_dropped, logs_lost, logs_lost_at,
       last_seen_at)
     SELECT n.id, h.revision, h.digest, h.agrees, h.version, h.nginx, h.error, h.rejected::jsonb,
       ARRAY(SELECT jsonb_array_elements_text(h.capabilities::jsonb)), h.load::jsonb, h.clock_offset_ms, h.release,
       h.packs::jsonb, h.key_ids::jsonb, h.patterns::jsonb, h.started_at, h.dropped, h.dropped,
       CASE WHEN h.dropped > 0 THEN now() END, now()
     FROM unnest($1::uuid[], $2::int[], $3::text[], $4::bool[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
         $10::text[], $11::int[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[])
       AS h(node_id, revision, digest, agrees, version, nginx, error, rejected, capabilities, load, clock_offset_ms, release, packs, key_ids, patterns,
         started_at, dropped)
     JOIN nodes n ON n.id = h.node_id
     ON CONFLICT (node_id) DO UPDATE SET
       revision = CASE WHEN ${IS_BEFORE_ACK} THEN s.revision ELSE excluded.revision END, digest = excluded.digest,
       digest_agrees = coalesce(excluded.digest_agrees, s.digest_agrees), version = excluded.version,
       nginx = excluded.nginx, error = excluded.error,
       rejected = CASE WHEN ${IS_BEFORE_ACK} THEN s.rejected ELSE excluded.rejected END,
       capabilities = excluded.capabilities, load = excluded.load, clock_offset_ms = excluded.clock_offset_ms,
       release = excluded.release, packs = excluded.packs, key_ids = excluded.key_ids,
       failing_patterns = excluded.failing_patterns,
       agent_started_at = CASE WHEN ${IS_PREVIOUS_AGENT} THEN s.agent_started_at ELSE excluded.agent_started_at END,
       previous_agent_started_at = CASE WHEN ${IS_NEW_AGENT} THEN s.agent_started_at ELSE s.previous_agent_started_at END,
       logs_dropped = ${DROPPED},
       logs_lost = least(s.logs_lost + ${NEWLY_LOST}, ${Number.MAX_SAFE_INTEGER}),
       logs_lost_at = CASE WHEN ${NEWLY_LOST} > 0 THEN excluded.last_seen_at ELSE s.logs_lost_at END,
       last_seen_at = excluded.last_seen_at`,
    [
      beats.map(({ nodeId }) => nodeId),
      beats.map(({ message }) => message.revision),
      beats.map(({ message }) => message.digest),
      beats.map(({ nodeId, message }) => matchesExpected(message, expected.get(nodeId))),
      beats.map(({ message }) => clean(message.version, 64)),
      beats.map(({ message }) => message.nginx),
      beats.map(({ message }) => (message.error === null ? null : clean(message.error))),
      beats.map(({ message }) => rejectedJson(message.rejected)),
      beats.map(({ message }) => JSON.stringify(message.capabilities.slice(0, 100).map((name) => clean(name, 100)))),
      beats.map(({ message }) => (message.load === undefined ? null : JSON.stringify(message.load))),
      beats.map(({ message, receivedAt }) => clockOffsetOf(message, receivedAt)),
      beats.map(({ message }) => message.release ?? null),
      beats.map(({ message }) => packsJson(message.packs ?? {})),
      beats.map(({ message }) => (message.keys === undefined ? null : JSON.stringify(message.keys))),
      beats.map(({ message }) => patternsJson(message.patterns)),
      beats.map(({ message }) => clean(message.startedAt, 64)),
      beats.map(({ message }) => droppedLines(message)),
    ],
  );
  await receiptsByRevision(
    pool,
    beats.map(({ nodeId, message: { revision, rejected } }) => ({
      nodeId,
      revision,
      rejected: rejectedJson(rejected),
      tookMs: null,
    })),
  );
}

/** Digests are comparable at the same revision only: a node may be about to apply a new one. */
function matchesExpected({ revision, digest }: Heartbeat, expected: HeartbeatReply | undefined): boolean | null {
  return expected?.revision === revision ? expected.digest === digest : null;
}

/** The expected state of each node: its zone's documents and its own. */
async function readExpected(pool: Pool, nodeIds: string[]): Promise<Map<string, HeartbeatReply>> {
  const { rows } = await pool.query<{
    id: string;
    revision: number;
    digest: string;
    own: string | null;
    keys: string[];
  }>(
    `SELECT n.id, z.revision, z.digest, d.sha256 AS own, ${ringNames} AS keys
     FROM nodes n JOIN zones z ON z.id = n.zone_id
     LEFT JOIN edge_documents d ON d.zone_id = z.id AND d.key = 'node/' || n.id::text AND d.body IS NOT NULL
     WHERE n.id = ANY($1::uuid[]) AND n.public_key IS NOT NULL`,
    [nodeIds],
  );
  return new Map(
    rows.map(({ id, revision, digest, own, keys }) => [
      id,
      {
        revision,
        digest: own === null ? digest : toggle(digest, nodeKey(id), own),
        keys: keys.map((name) => KeyID.parse(name)),
      },
    ]),
  );
}
