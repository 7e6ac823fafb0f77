// Packets that the kernels of nodes dropped, by cause and step of time. Heartbeats have counters since the start of
// the agent, and may be late, repeated, or handled by several processes. Only what exceeds the largest known counter
// counts.
import type { Dropped } from '@edgeloom/contract/edge/messages.ts';
import { dropCauses, type DropCause } from '@edgeloom/contract/statistics/layer4.ts';
import type { Pool, PoolClient } from 'pg';
import { clean } from '../node-link/incoming.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { Partitions } from './partitions.ts';
import { STEPS } from './traffic.ts';

/** Agents of a node whose counters are kept. Heartbeats of older ones are not late by that much. */
const MAX_AGENTS = 8;

export interface DropReport {
  nodeId: string;
  dropped: Dropped;
}

interface Tally {
  packets: number;
  bytes: number;
}
/** By cause. Absent: none. */
type Counters = Partial<Record<DropCause, Tally>>;
const none: Tally = { packets: 0, bytes: 0 };

interface AgentID {
  nodeId: string;
  startedAt: string;
}
interface AgentCounters extends AgentID {
  counters: Counters;
}

const keyOf = ({ nodeId, startedAt }: AgentID) => `${nodeId} ${startedAt}`;

/** Increases count in the step of `now`, in milliseconds since 1970. */
export async function addKernelDrops(
  pool: Pool,
  partitions: Partitions,
  reports: readonly DropReport[],
  now: number,
): Promise<void> {
  const reported = largestOf(reports);
  if (reported.length === 0) return;
  const known = await readCounters(pool, reported);
  const increased = reported.filter((agent) => increaseOf(known.get(keyOf(agent)) ?? {}, agent.counters).length > 0);
  if (increased.length === 0) return;
  await partitions.ensure([now], now);
  await withClient(pool, (client) => inTransaction(client, () => addIncreases(client, increased, now)));
}

/** The largest counters of each agent that dropped packets. */
function largestOf(reports: readonly DropReport[]): AgentCounters[] {
  const agents = new Map<string, AgentCounters>();
  for (const { nodeId, dropped } of reports) {
    const agent = { nodeId, startedAt: clean(dropped.since, 64) };
    const counters = largest(agents.get(keyOf(agent))?.counters ?? {}, dropped);
    if (Object.keys(counters).length > 0) agents.set(keyOf(agent), { ...agent, counters });
  }
  return [...agents.values()];
}

/** Without causes of which there are none. */
const largest = (a: Counters, b: Counters): Counters =>
  Object.fromEntries(
    dropCauses.flatMap((cause) => {
      const [one, other] = [a[cause] ?? none, b[cause] ?? none];
      const packets = Math.max(one.packets, other.packets);
      const bytes = Math.max(one.bytes, other.bytes);
      return packets > 0 || bytes > 0 ? [[cause, { packets, bytes }]] : [];
    }),
  );

function increaseOf(known: Counters, reported: Counters): (Tally & { cause: DropCause })[] {
  return dropCauses.flatMap((cause) => {
    const [before, now] = [known[cause] ?? none, reported[cause] ?? none];
    const packets = Math.max(0, now.packets - before.packets);
    const bytes = Math.max(0, now.bytes - before.bytes);
    return packets > 0 || bytes > 0 ? [{ cause, packets, bytes }] : [];
  });
}

/** Parameters of `unnest ($1::uuid[], $2::text[])`. */
const idsOf = (agents: readonly AgentID[]) => [
  agents.map(({ nodeId }) => nodeId),
  agents.map(({ startedAt }) => startedAt),
];

async function readCounters(pool: Pool, agents: readonly AgentID[]): Promise<Map<string, Counters>> {
  const { rows } = await pool.query<AgentCounters>(
    `SELECT c.node_id AS "nodeId", c.agent_started_at AS "startedAt", c.counters
     FROM unnest($1::uuid[], $2::text[]) AS a (node_id, started_at)
     JOIN kernel_drop_counters c ON c.node_id = a.node_id AND c.agent_started_at = a.started_at`,
    idsOf(agents),
  );
  return new Map(rows.map((row) => [keyOf(row), row.counters]));
}

async function addIncreases(client: PoolClient, agents: readonly AgentCounters[], now: number): Promise<void> {
  const locked = await lockCounters(client, agents);
  const reported = new Map(agents.map((agent) => [keyOf(agent), agent.counters]));
  const known = locked.map((agent) => ({ ...agent, reported: reported.get(keyOf(agent)) ?? {} }));
  await addSums(
    client,
    known.flatMap(({ nodeId, zoneId, counters, reported }) =>
      increaseOf(counters, reported).map((increase) => ({ nodeId, zoneId, ...increase })),
    ),
    now,
  );
  await client.query(
    `UPDATE kernel_drop_counters c SET counters = r.counters
     FROM json_to_recordset($1) AS r ("nodeId" uuid, "startedAt" text, counters jsonb)
     WHERE c.node_id = r."nodeId" AND c.agent_started_at = r."startedAt"`,
    [
      JSON.stringify(
        known.map(({ reported, ...agent }) => ({ ...agent, counters: largest(agent.counters, reported) })),
      ),
    ],
  );
  await client.query(
    `DELETE FROM kernel_drop_counters c USING (
       SELECT id, row_number() OVER (PARTITION BY node_id ORDER BY id DESC) AS place
       FROM kernel_drop_counters WHERE node_id = ANY ($1::uuid[])
     ) AS agents WHERE agents.place > ${MAX_AGENTS} AND c.node_id = ANY ($1::uuid[]) AND c.id = agents.id`,
    [locked.map(({ nodeId }) => nodeId)],
  );
}

/** Locks the counters of agents of known nodes until the transaction ends. An unknown agent has none yet. */
async function lockCounters(
  client: PoolClient,
  agents: readonly AgentID[],
): Promise<(AgentCounters & { zoneId: string })[]> {
  await client.query(
    `INSERT INTO kernel_drop_counters (node_id, agent_started_at)
     SELECT a.node_id, a.started_at FROM unnest($1::uuid[], $2::text[]) AS a (node_id, started_at)
     JOIN nodes n ON n.id = a.node_id
     ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
    idsOf(agents),
  );
  const { rows } = await client.query<AgentCounters & { zoneId: string }>(
    `SELECT c.node_id AS "nodeId", c.agent_started_at AS "startedAt", c.counters, n.zone_id AS "zoneId"
     FROM unnest($1::uuid[], $2::text[]) AS a (node_id, started_at)
     JOIN kernel_drop_counters c ON c.node_id = a.node_id AND c.agent_started_at = a.started_at
     JOIN nodes n ON n.id = c.node_id
     ORDER BY 1, 2 FOR UPDATE OF c`,
    idsOf(agents),
  );
  return rows;
}

interface Increase extends Tally {
  nodeId: string;
  zoneId: string;
  cause: DropCause;
}

/** A wrong number from one node must not make a sum unreadable. */
const bounded = (sum: string) => `least(${sum}, ${Number.MAX_SAFE_INTEGER})`;

async function addSums(client: PoolClient, increases: readonly Increase[], now: number): Promise<void> {
  const rows = STEPS.flatMap((step) => {
    const at = Math.floor(now / 1000 / step) * step;
    return increases.map((increase) => ({ ...increase, step, at }));
  });
  await client.query(
    `INSERT INTO kernel_drops AS t (step, at, zone_id, node_id, cause, packets, bytes)
     SELECT r.step, to_timestamp(r.at), r."zoneId", r."nodeId", r.cause, ${bounded('sum(r.packets)')}, ${bounded('sum(r.bytes)')}
     FROM json_to_recordset($1) AS r (step int, at float8, "zoneId" uuid, "nodeId" uuid, cause text, packets bigint, bytes bigint)
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
     ON CONFLICT (zone_id, step, at, node_id, cause) DO UPDATE SET
       packets = ${bounded('t.packets + excluded.packets')}, bytes = ${bounded('t.bytes + excluded.bytes')}`,
    [JSON.stringify(rows)],
  );
}
