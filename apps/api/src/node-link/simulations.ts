// Finds the site of a simulated request and a node to ask. Both may exceed the customer's scope: another customer's
// exact name precedes the caller's wildcard, and nodes belong to the operator.
import { REPLAY_PAGE } from '@edgeloom/contract/edge/simulated.ts';
import type {
  ReplayCommand,
  Replayed,
  ReplayedRequest,
  Simulated,
  SimulatedRequest,
} from '@edgeloom/contract/edge/simulated.ts';
import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import type { Answer, Order } from './commands.ts';
import type { LinkLog } from './log.ts';

const WITHIN_MS = 4000;

type Pooled = Pick<Installation, 'pool'>;

/** The site that serves a name. `names` contains the name and its wildcard. Null: none. */
export async function siteServing({ pool }: Pooled, name: string, names: string[]): Promise<string | null> {
  const { rows } = await pool.query<{ site: string }>(
    'SELECT site_id AS site FROM domains WHERE enabled_name = ANY($1) ORDER BY enabled_name = $2 DESC LIMIT 1',
    [names, name],
  );
  return rows[0]?.site ?? null;
}

/** Connected nodes of the zone that serve visitors. */
export async function nodesServing({ pool }: Pooled, zoneId: string) {
  const { rows } = await pool.query<{ id: string; name: string }>(
    `SELECT n.id, n.name FROM nodes n JOIN node_states s ON s.node_id = n.id
     WHERE n.zone_id = $1 AND n.enabled AND n.kind = 'edge' AND s.connected_at IS NOT NULL ORDER BY n.name, n.id LIMIT 200`,
    [zoneId],
  );
  return rows;
}

/** Whether the zone's nodes have the geo pack. They get it with the first rule that needs it. */
export async function hasRegions({ pool }: Pooled, zoneId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "SELECT FROM edge_documents WHERE zone_id = $1 AND key = 'pack/geo' AND body IS NOT NULL",
    [zoneId],
  );
  return rowCount === 1;
}

/** Asks nodes in order until one responds. Disconnected and older nodes are skipped. */
export async function simulateOnAny<Node extends { id: string }>(
  order: (nodeId: string, order: Order) => Promise<Answer>,
  nodes: readonly Node[],
  request: SimulatedRequest,
  log: Pick<LinkLog, 'warn'>,
): Promise<{ node: Node; result: Simulated }> {
  let reason: ReturnType<typeof refusalOf> = 'NODE_UNREACHABLE';
  for (const node of nodes) {
    const answer = await order(node.id, { name: 'simulate', body: { request }, waitMs: WITHIN_MS });
    const result = typeof answer === 'object' && answer.ok ? answer.simulated : undefined;
    // An older agent simulates the request without its body.
    if (result && (request.body === undefined || result.hasBody)) return { node, result };
    reason = result ? 'NODE_VERSION_MISMATCH' : refusalOf(answer);
    if (typeof answer === 'object' && !result)
      log.warn({ node: node.id, err: answer.error }, 'a node could not simulate a request');
  }
  return fail(reason);
}

/** NATS carries a megabyte, and documents may take 768 KiB of it. */
const PAGE_BYTES = 160 * 1024;
const REPLAY_WITHIN_MS = 20_000;
/** For all pages together. Proxies close a call that takes longer. */
const REPLAY_BUDGET_MS = 40_000;

/** One node replays all requests. The results may be fewer, if the node stops to respond, or the time has passed. */
export async function replayOnAny(
  order: (nodeId: string, order: Order) => Promise<Answer>,
  nodes: readonly { id: string }[],
  { requests, docs }: Pick<ReplayCommand, 'requests' | 'docs'>,
  log: Pick<LinkLog, 'warn'>,
): Promise<(Replayed | null)[]> {
  let reason: ReturnType<typeof refusalOf> = 'NODE_UNREACHABLE';
  const end = performance.now() + REPLAY_BUDGET_MS;
  for (const { id } of nodes) {
    const results: (Replayed | null)[] = [];
    for (const page of pagesOf(requests)) {
      const waitMs = Math.min(REPLAY_WITHIN_MS, Math.ceil(end - performance.now()));
      if (waitMs <= 0) break;
      const answer = await order(id, { name: 'replay', body: { requests: page, docs }, waitMs });
      if (typeof answer !== 'object' || !answer.ok || answer.replayed === undefined) {
        reason = refusalOf(answer);
        if (typeof answer === 'object') log.warn({ node: id, err: answer.error }, 'a node could not replay requests');
        break;
      }
      results.push(...answer.replayed);
    }
    if (results.length > 0) return results;
  }
  return fail(reason);
}

function* pagesOf(requests: readonly ReplayedRequest[]): Generator<ReplayedRequest[]> {
  let page: ReplayedRequest[] = [];
  let bytes = 0;
  for (const request of requests) {
    const size = Buffer.byteLength(JSON.stringify(request));
    if (page.length === REPLAY_PAGE || (page.length > 0 && bytes + size > PAGE_BYTES)) {
      yield page;
      [page, bytes] = [[], 0];
    }
    page.push(request);
    bytes += size;
  }
  if (page.length > 0) yield page;
}

/** Errors of agents to which a document of a draft is too new. */
const TOO_OLD = /cannot be part of a simulation|agent is too old for/;

function refusalOf(answer: Answer) {
  // Connected but not subscribed: older agents subscribe to each known command.
  if (answer === 'unsubscribed') return 'NODE_VERSION_MISMATCH';
  if (typeof answer !== 'object') return 'NODE_UNREACHABLE';
  if (answer.unknown || TOO_OLD.test(answer.error ?? '')) return 'NODE_VERSION_MISMATCH';
  return answer.late ? 'INVALID_NODE_TIME' : 'NODE_UNREACHABLE';
}
