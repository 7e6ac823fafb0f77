// Destinations to which a site's logs are pushed (log-push). Secrets are sealed and never returned.
import * as z from 'zod';
import { randomUUIDv7 } from 'node:crypto';
import {
  LOG_DESTINATIONS,
  LogDestination,
  LogDestinationKind,
  MASKED,
  type LogDestinationInput,
  type LogDestinationUpdate,
} from '@edgeloom/contract/log-destinations/log-destinations.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { hostFault } from '../../core/outbound-fetch.ts';
import { contexts } from '../../core/secrets.ts';
import { sql } from '../../core/sql.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { LogDestination as Row } from '../../generated/client.ts';
import { deliver, errorCode, testBatches } from '../../log-push/deliver.ts';
import { secretOf } from '../../log-push/run-push.ts';
import * as sites from '../sites/sites.service.ts';

export async function list(ctx: Ctx, siteId: string): Promise<{ data: LogDestination[] }> {
  await sites.own(ctx.db, siteId);
  const rows = await ctx.db.logDestination.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
  return { data: await shown(ctx, siteId, rows) };
}

export async function create(ctx: Ctx, siteId: string, { kind, name, enabled, ...input }: LogDestinationInput) {
  await sites.own(ctx.db, siteId);
  const { secret, ...sent } = withSecret(input);
  const settings = unmasked(sent, {});
  assertPermitted(ctx, settings);
  const id = randomUUIDv7();
  const row = await ctx.db.$transaction(async (tx) => {
    await sites.lock(tx, siteId);
    if ((await tx.logDestination.count({ where: { siteId } })) >= LOG_DESTINATIONS)
      fail('LIMIT_REACHED', { extra: { limit: LOG_DESTINATIONS } });
    const data = { id, siteId, kind, name, enabled, settings, secretsSealed: sealed(ctx, id, secret) };
    return tx.logDestination.create({ data: { ...data, ...(await headOf(tx, siteId)) } });
  });
  return one(ctx, row);
}

export async function update(ctx: Ctx, siteId: string, { id, kind, name, enabled, ...input }: LogDestinationUpdate) {
  const { settings: stored } = await own(ctx, siteId, id);
  const { secret, ...changed } = withSecret(input);
  const settings = unmasked(changed, stored);
  assertPermitted(ctx, settings);
  const row = await ctx.db.$transaction(async (tx) => {
    await sites.lock(tx, siteId);
    const now = (await tx.logDestination.findUnique({ where: { id, siteId } })) ?? fail('NOT_FOUND');
    if (now.kind !== kind) failAt('kind', 'choice', 'the kind of a destination stays');
    // Else a changed address would receive a secret that its new owner never knew.
    const keeps = !secret && now.secretsSealed !== null;
    if (keeps && addressOf(settings) !== addressOf(now.settings))
      failAt('secret', 'required', 'required with a new address');
    return tx.logDestination.update({
      where: { id },
      data: {
        name,
        enabled,
        settings,
        ...(!keeps && { secretsSealed: sealed(ctx, id, secret) }),
        ...(enabled && !now.enabled && (await headOf(tx, siteId))),
        ...restarted(ctx),
      },
    });
  });
  return one(ctx, row);
}

/** Requests that arrive while a destination is off are not delivered later. */
export async function enable(ctx: Ctx, siteId: string, { ids, enabled }: { ids: string[]; enabled: boolean }) {
  await sites.own(ctx.db, siteId);
  const wanted = [...new Set(ids)];
  return ctx.db.$transaction(async (tx) => {
    await sites.lock(tx, siteId);
    if ((await tx.logDestination.count({ where: { siteId, id: { in: wanted } } })) !== wanted.length) fail('NOT_FOUND');
    const changed = { siteId, id: { in: wanted }, enabled: !enabled };
    const data = { enabled, ...restarted(ctx), ...(enabled && (await headOf(tx, siteId))) };
    await tx.logDestination.updateMany({ where: changed, data });
    return { ids };
  });
}

export const remove = ({ db }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    await sites.own(tx, siteId);
    const { count } = await tx.logDestination.deleteMany({ where: { siteId, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** Delivers one line that is marked as a test. */
export async function test(ctx: Ctx, siteId: string, id: string): Promise<{ error: string }> {
  const row = await own(ctx, siteId, id);
  const { env, secrets } = ctx.installation;
  const now = ctx.now();
  try {
    const destination = { siteId, kind: kindOf(row), settings: row.settings, secret: secretOf(secrets, row) };
    await deliver(env, destination, await testBatches(siteId, now), now, new AbortController().signal);
    return { error: '' };
  } catch (error) {
    return { error: errorCode(error) };
  }
}

const own = async ({ db }: Ctx, siteId: string, id: string): Promise<Row> =>
  (await db.logDestination.findUnique({ where: { id, siteId } })) ?? fail('NOT_FOUND');

const kindOf = ({ kind }: Pick<Row, 'kind'>) => LogDestinationKind.parse(kind);

const withSecret = <Input extends object>(input: Input): Omit<Input, 'secret'> & { secret?: string | undefined } =>
  input;

const sealed = ({ installation: { secrets } }: Ctx, id: string, secret: string | undefined) =>
  !secret ? null : secrets.seal(secret, contexts.logDestination(id));

/** A run with the former settings loses its lease. */
const restarted = ({ now }: Ctx) => ({ claimedBy: null, claimedUntil: null, tries: 0, dueAt: now() });

/** The present end of the site's spool, which exists from now on. */
async function headOf(tx: ScopedTx, siteId: string) {
  const head = await tx.logSpoolHead.upsert({ where: { siteId }, create: { siteId }, update: {} });
  return { reached: head.number, reachedLines: head.lines };
}

/** The settings of a destination of any kind. */
const Fields = z.record(z.string(), z.unknown());

function assertPermitted({ installation: { env } }: Ctx, settings: object) {
  const { url, endpoint, host, tls } = Fields.parse(settings);
  const [path, address, isEncrypted] =
    typeof host === 'string'
      ? (['host', host, tls === true] as const)
      : typeof url === 'string'
        ? (['url', new URL(url).hostname, url.startsWith('https:')] as const)
        : (['endpoint', new URL(String(endpoint)).hostname, String(endpoint).startsWith('https:')] as const);
  const fault = hostFault(address, isEncrypted, env);
  if (fault) failAt(path, 'policy', fault);
}

/** Where the secret goes. Another path can belong to another recipient. */
function addressOf(settings: unknown): string {
  const { url, endpoint } = Fields.parse(settings);
  const { origin, pathname } = new URL(String(url ?? endpoint));
  return `${origin}${pathname}`;
}

/** Many services take a key in the query, so its values are hidden. Older rows can have a password. */
function masked(url: string): string {
  const parsed = new URL(url);
  if (parsed.username !== '') parsed.username = MASKED;
  if (parsed.password !== '') parsed.password = MASKED;
  const parts = parsed.search.slice(1).split('&');
  const shown = parts.map((part) => (part.includes('=') ? part.replace(/=.*$/s, `=${MASKED}`) : part && MASKED));
  parsed.search = shown.join('&');
  return parsed.href;
}

/** An address that is sent as it was shown stays. */
function unmasked<Settings extends object>(settings: Settings, stored: unknown): Settings {
  const { url } = Fields.parse(settings);
  if (typeof url !== 'string') return settings;
  const known = Fields.parse(stored)['url'];
  if (typeof known === 'string' && (url === known || url === masked(known))) return { ...settings, url: known };
  if (new URL(url).search.includes(MASKED))
    failAt('url', 'required', 'the hidden values are required with a new address');
  return settings;
}

function targetOf(settings: unknown): string {
  const { url, endpoint, bucket, prefix, host, port } = Fields.parse(settings);
  if (url !== undefined) return masked(String(url));
  return endpoint === undefined
    ? `${String(host)}:${String(port)}`
    : `${new URL(String(endpoint)).host}/${String(bucket)}/${String(prefix)}`;
}

function withoutSecrets(settings: unknown) {
  const fields = Fields.parse(settings);
  return typeof fields['url'] === 'string' ? { ...fields, url: masked(fields['url']) } : fields;
}

const one = async (ctx: Ctx, row: Row): Promise<LogDestination> =>
  (await shown(ctx, row.siteId, [row]))[0] ?? fail('NOT_FOUND');

async function shown({ db }: Ctx, siteId: string, rows: readonly Row[]): Promise<LogDestination[]> {
  const waiting = await db.$read<{ id: string; lines: number; seconds: number }>(
    ({ site }) => sql`SELECT d.id, (h.lines - d.reached_lines)::float8 AS lines,
      coalesce(extract(epoch FROM now() - (SELECT min(l.stored_at) FROM log_spool l WHERE l.site_id = d.site_id AND l.number > d.reached)), 0)::float8 AS seconds
      FROM log_destinations d JOIN sites s ON s.id = d.site_id JOIN log_spool_heads h ON h.site_id = d.site_id
      WHERE ${site} AND d.site_id = ${siteId}::uuid AND d.enabled`,
  );
  const states = new Map(waiting.map((state) => [state.id, state]));
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    kind: kindOf(row),
    enabled: row.enabled,
    target: targetOf(row.settings),
    settings: LogDestination.shape.settings.parse(withoutSecrets(row.settings)),
    hasSecret: row.secretsSealed !== null,
    sentLines: Number(row.sentLines),
    droppedLines: Number(row.droppedLines),
    waitingLines: states.get(row.id)?.lines ?? 0,
    delaySeconds: Math.max(0, Math.round(states.get(row.id)?.seconds ?? 0)),
    succeededAt: row.succeededAt,
    failingSince: row.failingSince,
    lastError: row.lastError,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }));
}
