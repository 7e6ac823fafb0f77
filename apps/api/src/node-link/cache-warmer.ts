// Keeps URLs cached on a zone's nodes: each node checks a few due URLs and fetches missing ones. A row is leased by
// advancing its due time, so another process continues after a crash. A purge makes rows due again.
import { CommandReply, type PreheatCommand, type Warmed } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import type { Pool } from 'pg';
import type { Bus } from '../core/bus.ts';
import { parseMessage } from './parse-message.ts';
import { clean } from './incoming.ts';
import type { LinkLog } from './log.ts';
import { repeat } from './repeat.ts';

const URLS_PER_COMMAND = 8;
const MAX_BUSY_NODES = 32;
/** Concurrency per zone, whose nodes share origins. */
const OF_ONE_ZONE = 4;
const ANSWER_MS = 110_000;
/** Longer than one reply takes. */
const CLAIM = '120 s';
const CHECK_INTERVAL_MS = 1000;

/** Interval for cached URLs: rare enough to be cheap, and frequent enough to notice evictions. */
const LEAST_SECONDS = 60;
const MOST_SECONDS = 3600;
/** Jitter, so that objects stored together are not checked together. */
const SPREAD = 0.1;
/** Delays after consecutive failures. Uncacheable URLs use the longest one. */
const AGAIN_SECONDS = [60, 300, 1800, 3600, 21_600];
/** The node did not respond. */
const SILENT_SECONDS = 15;
/** For URLs that are not served. */
const RESTING_SECONDS = 600;

interface Claim {
  preheatId: string;
  nodeId: string;
  url: string;
  isServed: boolean;
  tries: number;
  /** The end of our lease. */
  dueAt: Date;
}
interface Outcome {
  state: Warmed['state'] | 'waiting' | 'resting';
  fault: string | null;
  tries: number;
  seconds: number;
}

export interface CacheWarmer {
  stop: () => Promise<void>;
}

export function startCacheWarmer(pool: Pool, bus: () => Bus | null, log: LinkLog): CacheWarmer {
  /** Busy nodes and their zones. */
  const busy = new Map<string, { zoneId: string; done: Promise<void> }>();
  const stopping = Promise.withResolvers<null>();
  const work = repeat(warmNodes, CHECK_INTERVAL_MS, log, 'URLs could not be kept cached');

  async function warmNodes() {
    const up = bus();
    if (!up?.isUp() || busy.size >= MAX_BUSY_NODES) return;
    for (const { nodeId, zoneId } of await findDueNodes(pool, [...busy.keys()])) {
      const ofZone = [...busy.values()].filter((one) => one.zoneId === zoneId).length;
      if (busy.size >= MAX_BUSY_NODES || ofZone >= OF_ONE_ZONE) continue;
      const done = warmNode(up, nodeId)
        .catch((error: unknown) => log.warn({ err: error, node: nodeId }, 'URLs of a node could not be kept cached'))
        .finally(() => {
          busy.delete(nodeId);
          work.wake();
        });
      busy.set(nodeId, { zoneId, done });
    }
  }

  async function warmNode(up: Bus, nodeId: string) {
    const claims = await claimRows(pool, nodeId);
    const [served, resting] = [claims.filter(({ isServed }) => isServed), claims.filter(({ isServed }) => !isServed)];
    await storeOutcomes(pool, resting, () => ({ state: 'resting', fault: null, tries: 0, seconds: RESTING_SECONDS }));
    if (served.length === 0) return;
    const urls = served.map(({ url }) => url);
    // On shutdown the reply is not awaited: another process retries.
    const reply = await Promise.race([sendCommand(up, nodeId, urls).catch(() => null), stopping.promise]);
    await storeOutcomes(pool, served, (one, i) => outcomeOf(one, reply, reply?.warmed?.[i]));
  }

  return {
    async stop() {
      stopping.resolve(null);
      await work.stop();
      await Promise.all([...busy.values()].map(({ done }) => done));
    },
  };
}

async function sendCommand(up: Bus, nodeId: string, urls: string[]): Promise<CommandReply> {
  const deadline = new Date(Date.now() + ANSWER_MS).toISOString();
  const command: PreheatCommand = { id: crypto.randomUUID(), deadline, urls };
  const reply = await up.nodes.request(subjects.command(nodeId, 'warm'), JSON.stringify(command), {
    timeout: ANSWER_MS,
  });
  return parseMessage(CommandReply, reply);
}

function outcomeOf({ tries }: Claim, reply: CommandReply | null, warmed: Warmed | undefined): Outcome {
  if (reply === null) return { state: 'waiting', fault: null, tries, seconds: SILENT_SECONDS };
  if (warmed?.state === 'stored') {
    const seconds = Math.min(Math.max(warmed.freshSeconds ?? 0, LEAST_SECONDS), MOST_SECONDS);
    return { state: 'stored', fault: null, tries: 0, seconds: seconds * (1 + Math.random() * SPREAD) };
  }
  const seconds = AGAIN_SECONDS[Math.min(tries, AGAIN_SECONDS.length - 1)] ?? MOST_SECONDS;
  const fault = warmed?.fault ?? reply.error;
  return {
    state: warmed?.state ?? 'failed',
    fault: fault === null ? null : clean(fault, 500),
    tries: tries + 1,
    seconds: seconds * (1 + Math.random() * SPREAD),
  };
}

/** Connected nodes with due URLs, longest waiting first. Nodes with a pending purge of a site fetch nothing of it. */
async function findDueNodes(pool: Pool, busyNodes: string[]): Promise<{ nodeId: string; zoneId: string }[]> {
  const { rows } = await pool.query<{ nodeId: string; zoneId: string }>(
    `SELECT n.id AS "nodeId", n.zone_id AS "zoneId" FROM nodes n
     JOIN node_states s ON s.node_id = n.id AND s.connected_at IS NOT NULL
     CROSS JOIN LATERAL (${ofNode('n.id')} LIMIT 1) first
     WHERE n.enabled AND NOT n.id = ANY($1::uuid[])
     ORDER BY first.due_at`,
    [busyNodes],
  );
  return rows;
}

/** In order of due times. */
const ofNode = (node: string) =>
  `SELECT c.preheat_id, c.due_at FROM preheat_copies c JOIN preheat_caches p ON p.id = c.preheat_id
   WHERE c.node_id = ${node} AND c.due_at <= now() AND NOT EXISTS (
     SELECT FROM job_receipts r JOIN jobs j ON j.id = r.job_id
     WHERE r.node_id = c.node_id AND r.state = 'pending' AND j.site_id = p.site_id AND j.kind LIKE 'purge%')
   ORDER BY c.due_at`;

async function claimRows(pool: Pool, nodeId: string): Promise<Claim[]> {
  const { rows } = await pool.query<Claim>(
    `WITH mine AS MATERIALIZED (${ofNode('$1::uuid')} LIMIT $2 FOR UPDATE OF c SKIP LOCKED)
     UPDATE preheat_copies c SET due_at = now() + $3::interval
     FROM mine, preheat_caches p, sites s, domains d
     WHERE c.preheat_id = mine.preheat_id AND c.node_id = $1 AND p.id = c.preheat_id AND s.id = p.site_id AND d.id = p.domain_id
     RETURNING c.preheat_id AS "preheatId", c.node_id AS "nodeId", p.url, c.tries, c.due_at AS "dueAt",
       s.status = 'normal' AND s.zone_id = p.zone_id AND d.enabled AS "isServed"`,
    [nodeId, URLS_PER_COMMAND, CLAIM],
  );
  return rows;
}

/** Rows that became due since, by a purge or a person, stay due: the result may be obsolete. */
async function storeOutcomes(pool: Pool, claims: Claim[], outcome: (claimRows: Claim, i: number) => Outcome) {
  if (claims.length === 0) return;
  const found = claims.map((one, i) => ({ ...one, ...outcome(one, i) }));
  await pool.query(
    `UPDATE preheat_copies c SET state = a.state, fault = a.fault, tries = a.tries, due_at = now() + a.seconds * interval '1 second',
       warmed_at = CASE WHEN a.state = 'stored' THEN now() ELSE c.warmed_at END
     FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::int[], $7::float8[])
       AS a(preheat_id, node_id, claimed, state, fault, tries, seconds)
     WHERE c.preheat_id = a.preheat_id AND c.node_id = a.node_id AND c.due_at = a.claimed`,
    [
      found.map(({ preheatId }) => preheatId),
      found.map(({ nodeId }) => nodeId),
      found.map(({ dueAt }) => dueAt),
      found.map(({ state }) => state),
      found.map(({ fault }) => fault),
      found.map(({ tries }) => tries),
      found.map(({ seconds }) => seconds),
    ],
  );
}
