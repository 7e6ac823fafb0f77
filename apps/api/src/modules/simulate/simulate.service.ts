// What would the edge do with this request? A node is asked, whose own hops decide it; here it is only seen to that nobody
// asks about what is not theirs, and what rules are called.
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { decisionNames, stepNames, type SimulateInput, type Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import type { Drafted, Drafts } from '../../http/draft.ts';
import type { Answer } from '../../node-link/commands.ts';
import { linkOf } from '../../node-link/start.ts';
import { namesThat } from '../purge/purge-urls.ts';
import * as sites from '../sites/sites.service.ts';
import { named } from './rule-names.ts';

/** Whose settings the steps tell of. */
const told: readonly Permission[] = ['domain:read', 'cache:read', 'module:read', 'firewall:read'];
const WITHIN_MS = 4000;
/** Where nobody said which node: so many are asked. */
const TRIES = 3;
/** Of documents that go along: the bus and the node's memory carry no more for one request. */
const DRAFT_BYTES = 768 * 1024;

export async function run(ctx: Ctx, drafts: Drafts, siteId: string, input: SimulateInput): Promise<Simulation> {
  if (!told.every((permission) => ctx.actor.permissions.has(permission))) fail('PERMISSION_DENIED');
  const { zoneId } = await sites.own(ctx.db, siteId);
  const place = placeOf(input.url);
  const docs = input.draft
    ? await drafts(ctx, siteId, input.draft, async (drafted) => {
        await assertOwn(ctx, siteId, place.name);
        return documentsOf(drafted, siteId, place.name);
      })
    : await assertOwn(ctx, siteId, place.name);
  const nodes = await nodesOf(ctx, zoneId);
  if (nodes.length === 0) fail('NODE_UNREACHABLE');
  const chosen = input.nodeID === undefined ? nodes.slice(0, TRIES) : nodes.filter(({ id }) => id === input.nodeID);
  if (chosen.length === 0) failAt('nodeID', 'notFound', 'no connected node of this zone');
  const request = requestOf(ctx, input, place);
  const { said, node } = await askAny(ctx, chosen, docs ? { ...request, docs } : request);
  // Between the look at the database and the node's a name may have become somebody else's.
  if (said.siteID !== null && said.siteID !== siteId) foreign();
  return { nodeID: node.id, nodeName: node.name, nodes, ...(await shown(ctx, said, place)) };
}

interface Place {
  scheme: 'http' | 'https';
  /** As it goes into the Host field. */
  host: string;
  name: string;
  port: number;
  /** With the query, as it was typed: what browsers tidy up, programs send. */
  path: string;
}

const foreign = (): never => failAt('url', 'domain', 'no enabled domain of this site');

function placeOf(text: string): Place {
  const [, behind = ''] = /^https?:\/\/[^/?#]+([^#]*)/i.exec(text) ?? [];
  const url = URL.parse(text);
  if (url === null) return failAt('url', 'format', 'wrong format');
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const path = behind.replace(/[^\x21-\x7e]/gu, (char) => encodeURIComponent(char));
  return {
    scheme,
    host: url.host,
    name: url.hostname,
    port: Number(url.port) || (scheme === 'https' ? 443 : 80),
    path: path.startsWith('/') ? path : `/${path}`,
  };
}

/** By whom the name is served: an exact name, whose ever it is, goes before the wildcard. */
async function assertOwn(ctx: Ctx, siteId: string, name: string): Promise<undefined> {
  const names = namesThat(name);
  const { rows } = await ctx.installation.pool.query<{ site: string }>(
    'SELECT site_id AS site FROM domains WHERE enabled_name = ANY($1) ORDER BY enabled_name = $2 DESC LIMIT 1',
    [names, name],
  );
  if (rows[0]?.site !== siteId) foreign();
}

/** Those that the request can meet. */
async function documentsOf({ keys, changed }: Drafted, siteId: string, name: string) {
  const wanted = [siteKey(siteId), ...namesThat(name).map(hostKey)];
  const changes = await changed(keys.filter((key) => wanted.includes(key) || key.startsWith('module/')));
  const bytes = changes.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ''), 0);
  if (bytes > DRAFT_BYTES) fail('TOO_LARGE');
  return Object.fromEntries(changes.map(({ key, body }) => [key, body]));
}

/** Which serve visitors and hear us. */
async function nodesOf({ installation }: Ctx, zoneId: string) {
  const { rows } = await installation.pool.query<{ id: string; name: string }>(
    `SELECT n.id, n.name FROM nodes n JOIN node_states s ON s.node_id = n.id
     WHERE n.zone_id = $1 AND n.enabled AND s.connected_at IS NOT NULL ORDER BY n.name, n.id LIMIT 200`,
    [zoneId],
  );
  return rows;
}

function requestOf({ caller }: Ctx, { method, headers, ip, answer }: SimulateInput, place: Place): SimulatedRequest {
  const { scheme, port, host, path } = place;
  const fields = (list: SimulateInput['headers']) => list.map(({ name, value }): [string, string] => [name, value]);
  return {
    scheme,
    port,
    method,
    host,
    path,
    headers: fields(headers),
    ip: ip ?? (caller.address === 'unknown' ? '127.0.0.1' : caller.address),
    answer: answer
      ? { status: answer.status, headers: fields(answer.headers) }
      : { status: 200, headers: [['Content-Type', 'text/html; charset=utf-8']] },
  };
}

/** One that has just gone, or is older than this, leaves it to the next. */
async function askAny(ctx: Ctx, nodes: { id: string; name: string }[], request: SimulatedRequest) {
  let why: unknown;
  for (const node of nodes) {
    try {
      return { node, said: await ask(ctx, node.id, request) };
    } catch (error) {
      why = error;
    }
  }
  throw why;
}

async function ask({ installation, log }: Ctx, nodeId: string, request: SimulatedRequest): Promise<Simulated> {
  const link = linkOf(installation) ?? fail('NODE_UNREACHABLE');
  const answer: Answer = await link.order(nodeId, { name: 'simulate', body: { request }, waitMs: WITHIN_MS });
  if (answer === 'unheard') return fail('NODE_VERSION_MISMATCH');
  if (typeof answer === 'string') return fail('NODE_UNREACHABLE');
  if (answer.unknown) return fail('NODE_VERSION_MISMATCH');
  if (answer.late) return fail('INVALID_NODE_TIME');
  if (!answer.ok || answer.simulated === undefined) {
    log.warn({ node: nodeId, error: answer.error }, 'a node could not simulate a request');
    return fail('NODE_UNREACHABLE');
  }
  return answer.simulated;
}

/** What the store had is known when the answer leaves; it was asked behind the cache rule. */
function inOrder(steps: Simulated['steps']): Simulated['steps'] {
  const store = steps.filter(({ step }) => step === 'store');
  const others = steps.filter(({ step }) => step !== 'store');
  const at = others.findIndex(({ step }) => step === 'cache') + 1;
  return at === 0 ? steps : others.toSpliced(at, 0, ...store);
}

const member = <const T extends readonly string[]>(list: T, name: string): T[number] =>
  list.find((one) => one === name) ?? 'other';
const fieldsOf = (list: [string, string][]) => list.map(([name, value]) => ({ name, value }));

async function shown({ db }: Ctx, said: Simulated, { scheme }: Place) {
  const steps = inOrder(said.steps);
  const rules = await named(db, steps);
  const { asked, status } = said;
  const origin = said.steps.findLast(({ step, decision }) => step === 'origin' && decision === 'chosen')?.detail;
  const isStored = said.steps.some(({ step, decision }) => step === 'store' && ['hit', 'stale'].includes(decision));
  const host = asked?.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  const kind: Simulation['outcome']['kind'] =
    status === null ? 'closed' : isStored ? 'stored' : asked !== null ? 'origin' : 'answered';
  return {
    revision: said.revision,
    outcome: {
      kind,
      status,
      headers: fieldsOf(said.headers),
      origin: asked && {
        address: origin?.['address'] ?? '',
        method: asked.method,
        url: `${origin?.['scheme'] ?? scheme}://${host}${asked.uri}`,
        headers: fieldsOf(asked.headers),
      },
    },
    steps: steps.map(({ step, decision, detail, microseconds }, i) => ({
      step: member(stepNames, step),
      decision: member(decisionNames, decision),
      rule: rules[i] ?? null,
      detail,
      microseconds,
    })),
  };
}
