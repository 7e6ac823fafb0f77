// Replays the latest logged requests with an unsaved change. Equal requests are simulated once, by one node.
import { isDeepStrictEqual } from 'node:util';
import { hostKey, moduleKey, siteKey, checkDoc, type EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Replayed, ReplayedRequest } from '@edgeloom/contract/edge/simulated.ts';
import {
  REPLAYED_TOP,
  replayGaps,
  type Replay,
  type ReplayGap,
  type ReplayInput,
  type ReplayOutcome,
} from '@edgeloom/contract/simulate/replay.ts';
import type { RequestGroup } from '../../access-log/access-log.ts';
import { isTimeout as isClickHouseTimeout } from '../../access-log/clickhouse-client.ts';
import { accessLogOf } from '../../access-log/open.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { isTimeout, sql } from '../../core/sql.ts';
import type { Drafted, DraftedDocument, Drafts } from '../../http/draft.ts';
import { hasRegions, nodesServing, replayOnAny } from '../../node-link/simulations.ts';
import { linkOf } from '../../node-link/start.ts';
import { seenSql, type Times } from '../../statistics/selection.ts';
import { namesThat } from '../purge/purge-urls.ts';
import { draftedLists } from './drafted-lists.ts';
import { requestOf, withoutUnreplayableRules, type MissingData } from './replayable.ts';
import { named } from './rule-names.ts';
import { DRAFT_BYTES, requiredPermissions, TRIES } from './simulate.service.ts';

const MINUTE_MS = 60_000;
const READ_MS = 10_000;
/** Each host has documents of its own. */
const MAX_HOSTS = 200;
/** Sites with a replay in this process. */
const sitesInReplay = new Set<string>();

export async function run(ctx: Ctx, drafts: Drafts, siteId: string, input: ReplayInput): Promise<Replay> {
  const required = [...requiredPermissions, 'log:read'] as const;
  if (!required.every((permission) => ctx.actor.permissions.has(permission))) fail('PERMISSION_DENIED');
  const site = await readSite(ctx, siteId);
  if (sitesInReplay.has(siteId)) fail('BUSY');
  sitesInReplay.add(siteId);
  try {
    return await replay(ctx, drafts, site, input);
  } catch (error) {
    if (isTimeout(error) || isClickHouseTimeout(error)) return fail('BUSY');
    throw error;
  } finally {
    sitesInReplay.delete(siteId);
  }
}

async function readSite({ db }: Ctx, id: string) {
  const select = { id: true, zoneId: true, maskLogAddress: true, maskLogQuery: true } as const;
  return (await db.site.findUnique({ where: { id }, select })) ?? fail('NOT_FOUND');
}
type Site = Awaited<ReturnType<typeof readSite>>;

async function replay(ctx: Ctx, drafts: Drafts, site: Site, { draft, minutes, sample }: ReplayInput): Promise<Replay> {
  const to = ctx.now();
  const times = { from: new Date(to.getTime() - minutes * MINUTE_MS), to };
  const gaps = new Set<ReplayGap>();
  if (site.maskLogAddress) gaps.add('addresses');
  if (site.maskLogQuery) gaps.add('query');
  const [sums, groups] = await Promise.all([
    readSums(ctx, site.id, times),
    // A masked address is that of a network.
    site.maskLogAddress ? [] : readGroups(ctx, site.id, sample, times),
  ]);
  const hosts = [...new Set(groups.map(({ host }) => host))].slice(0, MAX_HOSTS);
  const addresses = [...new Set(groups.map(({ address }) => address))];
  const missing = {
    isQueryMasked: site.maskLogQuery,
    areRegionsUnknown: !(await hasRegions(ctx.installation, site.zoneId)),
  };
  const docs = await drafts(ctx, site.id, draft, async (drafted) => {
    const documents = [
      ...(await documentsOf(drafted, site.id, hosts, missing, gaps)),
      ...(await draftedLists(drafted, addresses)),
    ];
    const bytes = documents.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ''), 0);
    if (bytes > DRAFT_BYTES) fail('TOO_LARGE');
    return Object.fromEntries(documents.map(({ key, body }) => [key, body]));
  });
  const chosen = groups.flatMap((group) => {
    const request = hosts.includes(group.host) ? requestOf(group) : null;
    if (request === null) gaps.add('paths');
    return request === null ? [] : [{ group, request }];
  });
  const results = await replayed(ctx, site, chosen, docs);
  const counted = chosen.flatMap(({ group }, i) => judge(group, results[i] ?? null, site.id, gaps) ?? []);
  return {
    ...times,
    ...sums,
    ...totalsOf(counted),
    top: await topOf(ctx, counted),
    isComplete: totalsOf(counted).replayed >= sums.requests - sums.alreadyRefused,
    notReplayed: replayGaps.filter((gap) => gaps.has(gap)),
  };
}

async function readSums({ db, installation }: Ctx, siteID: string, times: Times) {
  const selection = { siteIDs: [siteID], filters: {} };
  const rows = await accessLogOf(installation).sums(db.$read, selection, times, 'total');
  const [sums] = await db.$read<{ requests: number; alreadyRefused: number }>(
    (visible) => sql`WITH ${seenSql(visible, selection)}
    SELECT coalesce(sum(t.requests), 0)::float8 AS requests, coalesce(sum(t.blocked), 0)::float8 AS "alreadyRefused" FROM ${rows}`,
    READ_MS,
  );
  return sums ?? { requests: 0, alreadyRefused: 0 };
}

const readGroups = ({ db, installation }: Ctx, siteID: string, limit: number, times: Times) =>
  accessLogOf(installation).groups(db.$read, { siteID, limit }, times, READ_MS);

/** The documents that differ from those of the node: by the draft, or by rules that cannot be replayed. */
async function documentsOf(
  { compiled }: Drafted,
  id: string,
  hosts: readonly string[],
  missing: MissingData,
  gaps: Set<ReplayGap>,
): Promise<DraftedDocument[]> {
  const hostKeys = new Set(hosts.flatMap(namesThat).map(hostKey));
  const first = readAll(await compiled([siteKey(id), ...hostKeys])).filter(
    ({ doc }) => doc?.kind !== 'host' || doc.siteID === id,
  );
  const modules = first.flatMap(({ doc }) =>
    doc?.kind === 'host' ? Object.values(doc.modules ?? {}).flatMap((module) => module ?? []) : [],
  );
  const all = [...first, ...readAll(await compiled([...new Set(modules)].map(moduleKey)))];
  return all.flatMap(({ key, body, isChanged, doc }): DraftedDocument[] => {
    if (doc === null) return isChanged ? [{ key, body }] : [];
    const replayed = withoutUnreplayableRules(doc, missing, gaps);
    return isChanged || !isDeepStrictEqual(replayed, doc) ? [{ key, body: JSON.stringify(replayed) }] : [];
  });
}

type Compiled = Awaited<ReturnType<Drafted['compiled']>>[number];

function readAll(all: readonly Compiled[]): (Compiled & { doc: EdgeDoc | null })[] {
  return all.map((document) => {
    const checked = document.body === null ? null : checkDoc(document.key, document.body);
    return { ...document, doc: checked !== null && 'doc' in checked ? checked.doc : null };
  });
}

async function replayed(
  { installation, log }: Ctx,
  { zoneId }: Site,
  chosen: readonly { request: ReplayedRequest }[],
  docs: Record<string, string | null>,
): Promise<(Replayed | null)[]> {
  if (chosen.length === 0) return [];
  // Not always the same one.
  const all = await nodesServing(installation, zoneId);
  const first = Math.floor(Math.random() * all.length);
  const nodes = [...all.slice(first), ...all.slice(0, first)].slice(0, TRIES);
  const { order } = linkOf(installation) ?? fail('NODE_UNREACHABLE');
  return replayOnAny(order, nodes, { requests: chosen.map(({ request }) => request), docs }, log);
}

interface Counted {
  group: RequestGroup;
  outcome: ReplayOutcome;
  end: Replayed['end'];
}

/** Steps of the zone, by its present state. The draft cannot change them. */
const ZONE_STEPS = ['antiCC', 'blocked', 'firewall', 'zoneLists'];
const CHALLENGE = 978;

/** Null: the request is not judged. */
function judge(group: RequestGroup, result: Replayed | null, siteId: string, gaps: Set<ReplayGap>): Counted | null {
  if (result?.siteID !== siteId) return null;
  const { end, status } = result;
  if (end !== null && ZONE_STEPS.includes(end.step)) {
    gaps.add('zone');
    return null;
  }
  return { group, outcome: outcomeOf(end, status), end };
}

function outcomeOf(end: Replayed['end'], status: number | null): ReplayOutcome {
  if (end === null || end.decision === 'answered') return 'allowed';
  if (status === CHALLENGE) return 'challenged';
  if (status !== null && status < 400) return end.decision === 'redirected' ? 'redirected' : 'allowed';
  return 'blocked';
}

function totalsOf(counted: readonly Counted[]) {
  const totals = { replayed: 0, blocked: 0, challenged: 0, redirected: 0, allowed: 0 };
  for (const { group, outcome } of counted) {
    totals.replayed += group.requests;
    totals[outcome] += group.requests;
  }
  return totals;
}

async function topOf({ db }: Ctx, counted: readonly Counted[]): Promise<Replay['top']> {
  const ended = counted
    .flatMap(({ group, outcome, end }) =>
      outcome === 'blocked' || outcome === 'challenged' ? [{ group, outcome, rule: end?.rule ?? null, end }] : [],
    )
    .slice(0, REPLAYED_TOP);
  const rules = await named(db, ended);
  return ended.map(({ group, outcome, end }, i) => {
    const { address, country, method, host, uri, userAgent, requests } = group;
    const cause = end?.step ?? '';
    return { address, country, method, host, uri, userAgent, requests, outcome, cause, rule: rules[i] ?? null };
  });
}
