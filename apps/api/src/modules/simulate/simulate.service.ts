// Simulates a request: a node runs its own request phases on it. This module checks that the caller owns the site and
// adds the names of rules.
// Nothing simpler works: only a node's nginx and Lua decide as they do for visitors. A second implementation here would
// sooner or later decide differently.
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { decisionNames, stepNames, type SimulateInput, type Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import type { Drafted, Drafts } from '../../http/draft.ts';
import { simulateOnAny, nodesServing, siteServing } from '../../node-link/simulations.ts';
import { linkOf } from '../../node-link/start.ts';
import { explained } from '../logs/logs.service.ts';
import { namesThat } from '../purge/purge-urls.ts';
import * as sites from '../sites/sites.service.ts';
import { draftedLists } from './drafted-lists.ts';
import { named } from './rule-names.ts';

/** The permissions for the settings that the steps reveal. */
export const requiredPermissions: readonly Permission[] = ['domain:read', 'cache:read', 'module:read', 'firewall:read'];
/** How many nodes are tried if the caller names none. */
export const TRIES = 3;
/** The most that draft documents may take: NATS and the node's memory carry no more for one request. */
export const DRAFT_BYTES = 768 * 1024;

export async function run(ctx: Ctx, drafts: Drafts, siteId: string, input: SimulateInput): Promise<Simulation> {
  if (!requiredPermissions.every((permission) => ctx.actor.permissions.has(permission))) fail('PERMISSION_DENIED');
  const { zoneId } = await sites.own(ctx.db, siteId);
  const place = placeOf(input.url);
  const request = requestOf(ctx, input, place);
  const docs = input.draft
    ? await drafts(ctx, siteId, input.draft, async (drafted) => {
        await assertOwn(ctx, siteId, place.name);
        return documentsOf(drafted, siteId, place.name, request.ip);
      })
    : await assertOwn(ctx, siteId, place.name);
  const nodes = await nodesServing(ctx.installation, zoneId);
  if (nodes.length === 0) fail('NODE_UNREACHABLE');
  const chosen = input.nodeID === undefined ? nodes.slice(0, TRIES) : nodes.filter(({ id }) => id === input.nodeID);
  if (chosen.length === 0) failAt('nodeID', 'notFound', 'no connected node of this zone');
  const { order } = linkOf(ctx.installation) ?? fail('NODE_UNREACHABLE');
  const { result, node } = await simulateOnAny(order, chosen, docs ? { ...request, docs } : request, ctx.log);
  // The name may have moved to another site after the check in the database.
  if (result.siteID !== null && result.siteID !== siteId) foreign();
  return { nodeID: node.id, nodeName: node.name, nodes, ...(await shown(ctx, result, place)) };
}

interface Place {
  scheme: 'http' | 'https';
  /** The value of the Host header. */
  host: string;
  name: string;
  port: number;
  /** With the query, unchanged: browsers would normalise it, but programs do not. */
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

async function assertOwn({ installation }: Ctx, siteId: string, name: string): Promise<undefined> {
  if ((await siteServing(installation, name, namesThat(name))) !== siteId) foreign();
}

/** The documents that affect this request. */
async function documentsOf(drafted: Drafted, siteId: string, name: string, ip: string) {
  const { keys, changed } = drafted;
  const wanted = [siteKey(siteId), ...namesThat(name).map(hostKey)];
  const changes = [
    ...(await changed(keys.filter((key) => wanted.includes(key) || key.startsWith('module/')))),
    ...(await draftedLists(drafted, [ip])),
  ];
  const bytes = changes.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ''), 0);
  if (bytes > DRAFT_BYTES) fail('TOO_LARGE');
  return Object.fromEntries(changes.map(({ key, body }) => [key, body]));
}

function requestOf(
  { caller }: Ctx,
  { method, headers, body, ip, answer }: SimulateInput,
  place: Place,
): SimulatedRequest {
  const { scheme, port, host, path } = place;
  const fields = (list: SimulateInput['headers']) => list.map(({ name, value }): [string, string] => [name, value]);
  return {
    scheme,
    port,
    method,
    host,
    path,
    headers: fields(headers),
    ...(body !== null && { body: body.base64 }),
    ip: ip ?? (caller.address === 'unknown' ? '127.0.0.1' : caller.address),
    answer: answer
      ? { status: answer.status, headers: fields(answer.headers) }
      : { status: 200, headers: [['Content-Type', 'text/html; charset=utf-8']] },
  };
}

/** The cache status is known last, but its step belongs behind the cache rule. */
function inOrder(steps: Simulated['steps']): Simulated['steps'] {
  const store = steps.filter(({ step }) => step === 'store');
  const others = steps.filter(({ step }) => step !== 'store');
  const at = others.findIndex(({ step }) => step === 'cache') + 1;
  return at === 0 ? steps : others.toSpliced(at, 0, ...store);
}

const member = <const T extends readonly string[]>(list: T, name: string): T[number] =>
  list.find((one) => one === name) ?? 'other';
const fieldsOf = (list: [string, string][]) => list.map(([name, value]) => ({ name, value }));

async function shown({ db }: Ctx, result: Simulated, { scheme }: Place) {
  const steps = inOrder(result.steps);
  const rules = await named(db, steps);
  const { asked, status } = result;
  const origin = result.steps.findLast(({ step, decision }) => step === 'origin' && decision === 'chosen')?.detail;
  const isStored = result.steps.some(({ step, decision }) => step === 'store' && ['hit', 'stale'].includes(decision));
  const host = asked?.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  const kind: Simulation['outcome']['kind'] =
    status === null ? 'closed' : isStored ? 'stored' : asked !== null ? 'origin' : 'answered';
  return {
    revision: result.revision,
    outcome: {
      kind,
      status,
      headers: fieldsOf(result.headers),
      origin: asked && {
        address: origin?.['address'] ?? '',
        method: asked.method,
        url: `${origin?.['scheme'] ?? scheme}://${host}${asked.uri}`,
        headers: fieldsOf(asked.headers),
      },
    },
    steps: steps.map(({ step, decision, detail: { explanation = '', ...detail }, microseconds }, i) => ({
      step: member(stepNames, step),
      decision: member(decisionNames, decision),
      rule: rules[i] ?? null,
      detail,
      waf: explained(explanation),
      microseconds,
    })),
  };
}
