// Drafts: runs calls with their own permissions, validation, handlers and limits in one transaction, examines the
// result and rolls back. No notification, audit row or version leaves the transaction.
import type { PoolClient } from 'pg';
import { mounted, onlyReads, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { DraftCall } from '@edgeloom/contract/drafts/drafts.ts';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import type { Particular } from '@edgeloom/contract/errors.ts';
import { withContext } from '../core/request-context.ts';
import type { Ctx } from '../core/ctx.ts';
import { fail, failAt, Failure, type Particulars } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { originPolicy } from '../core/outbound.ts';
import { dryRun } from '../core/dry-run-transaction.ts';
import { compileKeys } from '../node-link/load.ts';
import { admit, type Routes } from './bind.ts';
import { reasonOf } from './errors.ts';
import { inputChecker } from './input.ts';

/** The result of the calls, before the roll-back. */
export interface Drafted {
  /** The documents that would be compiled again. */
  keys: string[];
  /** Documents that would differ from those at nodes; null if removed. */
  changed: (keys: readonly string[]) => Promise<DraftedDocument[]>;
  /** All of these documents. */
  compiled: (keys: readonly string[]) => Promise<(DraftedDocument & { isChanged: boolean })[]>;
}
export interface DraftedDocument {
  key: string;
  body: string | null;
}

/** `look` queries the database within the draft. */
export type Drafts = <T>(
  ctx: Ctx,
  siteId: string,
  calls: readonly DraftCall[],
  look: (drafted: Drafted) => Promise<T>,
) => Promise<T>;

const PATIENCE_MS = 5000;
/** Per root account with its sub-accounts, in one process: each draft uses a connection of the pool. */
const AT_ONCE = 4;

export function drafting(installation: Installation, modules: readonly Routes[]): Drafts {
  const { pool } = installation;
  const find = draftable(modules);
  /** The root accounts of running drafts. */
  const underWay: string[] = [];
  // The other half of the pool is for all other calls.
  const atMost = Math.max(1, Math.floor((pool.options.max ?? 10) / 2));

  return async (ctx, siteId, calls, look) => {
    const { rootId } = ctx.actor;
    const ofThem = underWay.filter((id) => id === rootId).length;
    if (ofThem >= AT_ONCE || underWay.length >= atMost) fail('RATE_LIMITED', { extra: { retryAfterSeconds: 1 } });
    underWay.push(rootId);
    try {
      return await run(ctx, siteId, calls, look);
    } finally {
      underWay.splice(underWay.indexOf(rootId), 1);
    }
  };

  async function run<T>(
    ctx: Ctx,
    siteId: string,
    calls: readonly DraftCall[],
    look: (drafted: Drafted) => Promise<T>,
  ): Promise<T> {
    const site = await ctx.db.site.findUnique({ where: { id: siteId }, select: { zoneId: true } });
    const { zoneId } = site ?? fail('NOT_FOUND');
    // Validates all calls before anything is locked.
    const planned = await Promise.all(calls.map((call, i) => withCallIndex(i, async () => find(ctx, siteId, call))));
    // Audited, so that the changes of the calls are known; rolled back with the rest.
    const call = { audit: JSON.stringify({ reqID: ctx.reqID }), match: '' };
    return withContext(call, () =>
      dryRun(pool, PATIENCE_MS, async (client) => {
        const beginning = await client.query<Beginning>(asBefore);
        const since = beginning.rows[0] ?? { outbox: '0', version: '0' };
        for (const [i, work] of planned.entries()) {
          await withCallIndex(i, work);
          const { rows } = await client.query(strayed, [ctx.reqID, since.version, siteId]);
          if (rows.length > 0) failAt(`calls.${i}.path`, 'draft', 'changes more than the configuration of the site');
        }
        const { rows } = await client.query<{ key: string }>(
          'SELECT DISTINCT key FROM outbox WHERE zone_id = $1 AND id > $2 ORDER BY key',
          [zoneId, since.outbox],
        );
        const compiled = (keys: readonly string[]) => compiledOf(installation, ctx, client, zoneId, keys);
        return look({
          keys: rows.map(({ key }) => key),
          changed: async (keys) =>
            (await compiled(keys)).flatMap(({ key, body, isChanged }) => (isChanged ? [{ key, body }] : [])),
          compiled,
        });
      }),
    );
  }
}

interface Beginning {
  outbox: string;
  version: string;
}
const asBefore = `SELECT coalesce((SELECT max(id) FROM outbox), 0) AS outbox, coalesce((SELECT max(id) FROM site_versions), 0) AS version`;

/**
 * Changes outside the site's configuration: other sites, or a roll-back to a version, which has its own preview. Keys
 * belong to a module or a subscribed list.
 */
const strayed = `SELECT c.entity FROM audit_changes c
  WHERE c.req_id = $1 AND c.entity NOT IN ('token_keys', 'list_source_keys') AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.entity::regclass AND t.tgname = 'track_insert')
  UNION ALL SELECT 'site_versions' FROM site_versions v
  WHERE v.id > $2 AND v.tx = pg_current_xact_id()::text::bigint AND (v.site_id <> $3 OR v.restores IS NOT NULL)`;

/** Writing calls below a site, except those that call external systems, whose effect is unknown before. */
function draftable(modules: readonly Routes[]) {
  const all = modules.flatMap(({ group, handlers }) =>
    mounted([group])
      .filter(({ endpoint }) => endpoint.path.startsWith(BELOW) && !onlyReads(endpoint) && endpoint.limit === undefined)
      .map(({ endpoint, mount, family }) => ({
        endpoint,
        mount,
        family,
        handle: handlers[endpoint.name],
        pattern: patternOf(endpoint),
        check: inputChecker(endpoint),
      })),
  );
  return (ctx: Ctx, siteId: string, { method, path, body }: DraftCall): (() => Promise<unknown>) => {
    const found = all
      .filter(({ endpoint, mount }) => endpoint.method === method && mount === ctx.mount)
      .map((one) => ({ ...one, place: one.pattern.exec(path) }))
      .find(({ place }) => place !== null);
    if (!found?.handle) return fail('NO_SUCH_CALL');
    const { endpoint, family, handle, place } = found;
    admit(endpoint, family, ctx.actor);
    // The input was validated against the schema that types the handler; the type is only lost here.
    const input = found.check({ params: { ...place?.groups, siteId }, query: {}, body: body ?? {} });
    return () => handle(ctx, input as never);
  };
}

const BELOW = 'site/:siteId/';
const patternOf = ({ path }: Endpoint) =>
  new RegExp(`^${path.slice(BELOW.length).replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);

/** Adds the index of the call to the paths of its errors. */
async function withCallIndex<T>(i: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'UNKNOWN') throw error;
    const {
      errorData = [],
      extra,
      ...particulars
    }: Particulars = error instanceof Failure ? error.particulars : { cause: error };
    throw new Failure(reason, {
      ...particulars,
      ...(errorData.length > 0 && { errorData: errorData.map((fault) => placed(i, fault)) }),
      extra: { ...extra, call: i },
    });
  }
}

const placed = (i: number, fault: Particular): Particular =>
  'path' in fault ? { ...fault, path: `calls.${i}.body.${String(fault['path'])}` } : fault;

async function compiledOf(
  { secrets, env }: Installation,
  { log }: Ctx,
  client: PoolClient,
  zoneId: string,
  keys: readonly string[],
) {
  const compiled = await compileKeys(client, { secrets, policy: originPolicy(env) }, zoneId, keys);
  const { rows } = await client.query<{ key: string; sha256: string }>(
    'SELECT key, sha256 FROM edge_documents WHERE zone_id = $1 AND key = ANY($2) AND body IS NOT NULL',
    [zoneId, keys],
  );
  const known = new Map(rows.map(({ key, sha256 }) => [key, sha256]));
  return compiled.flatMap((document) => {
    if ('fault' in document) {
      log.error({ err: document.fault, key: document.key }, 'a drafted document could not be compiled');
      return [];
    }
    const { key, body } = document;
    const isSame = body === null ? !known.has(key) : known.get(key) === sha256(body);
    return [{ key, body, isChanged: !isSame }];
  });
}
