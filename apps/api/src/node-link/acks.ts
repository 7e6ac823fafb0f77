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
const IS_PROBABLY_BEFORE_ACK = `excluded.revision < s.revision AND coalesce(s.synced_at > now() - interval '15 seconds', false)`;

/** Log lines that the agent deleted unsent since its start. */
const droppedLines = ({ load }: Heartbeat) =>
  Math.min(Math.max(0, Math.trunc(load?.logs?.droppedLines ?? 0)), Number.MAX_SAFE_INTEGER);

/** Agents of a node whose counts are kept. Heartbeats of older ones are not late by that much. */
const MAX_AGENTS = 8;
/** The start of an agent, and the lines that it lost since then. */
type AgentLogCount = [startedAt: string, lines: number];

/** The agents of each node in a batch, newest first. The count of an agent only rises, so the largest is the newest. */
function agentLogCounts(items: readonly ReceivedHeartbeat[]): Map<string, AgentLogCount[]> {
  const byNode = new Map<string, Map<string, number>>();
  for (const { nodeId, message } of items) {
    const counts = byNode.get(nodeId) ?? new Map<string, number>();
    byNode.set(nodeId, counts);
    const startedAt = clean(message.startedAt, 64);
    const lines = Math.max(counts.get(startedAt) ?? 0, droppedLines(message));
    counts.delete(startedAt);
    counts.set(startedAt, lines);
  }
  return new Map([...byNode].map(([nodeId, counts]) => [nodeId, [...counts].toReversed().slice(0, MAX_AGENTS)]));
}

/** SQL: the stored counts. Processes of the release before write only that of the newest agent. */
const STORED_COUNTS = `(s.agent_log_counts || jsonb_build_array(jsonb_build_array(coalesce(s.agent_started_at, ''), s.logs_dropped)))`;
/** SQL: the largest count of each agent, whatever the order in which its heartbeats arrive. */
const agentsIn = (
  counts: string,
) => `(SELECT coalesce(nullif(c ->> 0, ''), excluded.agent_log_counts -> 0 ->> 0) AS started_at,
    max((c ->> 1)::bigint) AS lines, min(place) AS place
  FROM jsonb_array_elements(${counts}) WITH ORDINALITY AS e (c, place)
  GROUP BY 1 ORDER BY 3) AS agents`;
const AGENTS = agentsIn(`excluded.agent_log_counts || ${STORED_COUNTS}`);
/** SQL: lines that were deleted unsent since the last heartbeats of these agents. */
const NEWLY_LOST = `((SELECT sum(lines) FROM ${AGENTS})
  - (SELECT sum(lines) FROM ${agentsIn(STORED_COUNTS)}))`;
const NEWEST_AGENTS = `(SELECT jsonb_agg(jsonb_build_array(started_at, lines) ORDER BY place)
  FROM (SELECT * FROM ${AGENTS} LIMIT ${MAX_AGENTS}) AS agents)`;
/** SQL: the newest agent's count for processes of the release before, which add what exceeds it. */
const NEWEST_AGENT_LINES = `(SELECT lines FROM ${AGENTS} LIMIT 1)`;

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
  await storeBeats(pool, newest(known), agentLogCounts(known), expected);
  return items.map(({ nodeId }) => ({ reply: expected.get(nodeId) ?? null }));
}

const sumOf = (counts: readonly AgentLogCount[] = []) =>
  Math.min(
    counts.reduce((sum, [, lines]) => sum + lines, 0),
    Number.MAX_SAFE_INTEGER,
  );

/** `beats`: at most one per node, because one statement cannot update a row twice. */
async function storeBeats(
  pool: Pool,
  beats: readonly ReceivedHeartbeat[],
  logCounts: ReadonlyMap<string, AgentLogCount[]>,
  expected: ReadonlyMap<string, HeartbeatReply>,
): Promise<void> {
  await pool.query(
    `INSERT INTO node_states AS s (node_id, revision, digest, digest_agrees, version, nginx, error, rejected, capabilities,
       load, clock_offset_ms, release, packs, key_ids, failing_patterns, agent_log_counts,
       agent_started_at, logs_dropped, logs_lost, logs_lost_at, last_seen_at)
     SELECT n.id, h.revision, h.digest, h.agrees, h.version, h.nginx, h.error, h.rejected::jsonb,
       ARRAY(SELECT jsonb_array_elements_text(h.capabilities::jsonb)), h.load::jsonb, h.clock_offset_ms, h.release,
       h.packs::jsonb, h.key_ids::jsonb, h.patterns::jsonb, h.log_counts::jsonb,
       h.log_counts::jsonb -> 0 ->> 0, (h.log_counts::jsonb -> 0 ->> 1)::bigint, h.lost,
       CASE WHEN h.lost > 0 THEN now() END, now()
     FROM unnest($1::uuid[], $2::int[], $3::text[], $4::bool[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
         $10::text[], $11::int[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[])
       AS h(node_id, revision, digest, agrees, version, nginx, error, rejected, capabilities, load, clock_offset_ms, release, packs, key_ids, patterns,
         log_counts, lost)
     JOIN nodes n ON n.id = h.node_id
     ON CONFLICT (node_id) DO UPDATE SET
       revision = CASE WHEN ${IS_PROBABLY_BEFORE_ACK} THEN s.revision ELSE excluded.revision END, digest = excluded.digest,
       digest_agrees = coalesce(excluded.digest_agrees, s.digest_agrees), version = excluded.version,
       nginx = excluded.nginx, error = excluded.error,
       rejected = CASE WHEN ${IS_PROBABLY_BEFORE_ACK} THEN s.rejected ELSE excluded.rejected END,
       capabilities = excluded.capabilities, load = excluded.load, clock_offset_ms = excluded.clock_offset_ms,
       release = excluded.release, packs = excluded.packs, key_ids = excluded.key_ids,
       failing_patterns = excluded.failing_patterns,
       agent_log_counts = ${NEWEST_AGENTS},
       agent_started_at = excluded.agent_started_at, logs_dropped = ${NEWEST_AGENT_LINES},
       previous_agent_started_at = CASE WHEN s.agent_started_at = excluded.agent_started_at THEN s.previous_agent_started_at
         ELSE s.agent_started_at END,
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
      beats.map(({ nodeId }) => JSON.stringify(logCounts.get(nodeId))),
      beats.map(({ nodeId }) => sumOf(logCounts.get(nodeId))),
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
