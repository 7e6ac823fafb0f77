// Writes the audit log: a row for each writing call and each sign-in, failed ones included. Database triggers record
// the changes in the call's own transaction (migration audit_limits); this adds who called, from where and with which
// result. If the row cannot be written, the response is still sent: the row goes to the process log, and the changes
// wait for adoptChanges.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SENTENCE_FIELDS } from '@edgeloom/contract/audit/audit.ts';
import { Id, isId } from '@edgeloom/contract/common/common.ts';
import { onlyReads, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import * as z from 'zod';
import { withoutAudit, type RequestContext } from '../core/request-context.ts';
import { NOBODY } from '../core/actor.ts';
import type { AuditInput, Ctx } from '../core/ctx.ts';
import { failAt } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { findNamedObjects } from '../core/named-objects.ts';

export interface Line {
  method: string;
  path: string;
  status: number;
  /** The error code of a failed call, and the values in its message. */
  failure?: { code: number; extra?: Readonly<Record<string, unknown>> } | undefined;
}

const ACTION_ID = 'Action-Id';
export const takesActionId = (endpoint: Endpoint): boolean => endpoint.can !== 'anyone' && !onlyReads(endpoint);

/** The header Action-Id. Null without one. */
export function readActionId(headers: IncomingHttpHeaders): string | null {
  const id = headers['action-id'];
  if (id === undefined) return null;
  return Id.safeParse(id).data?.toLowerCase() ?? failAt(ACTION_ID, 'format', 'a UUID');
}

/**
 * The id that is stored instead of the header's. Calls share it only with the same account, method, path and switches.
 * One sentence is then true of all of them.
 */
function storedActionId({ actor, caller }: Ctx, method: string, path: string): string | null {
  if (caller.actionId === null) return null;
  const same = [caller.actionId, actor.id, actor.proxy?.id ?? null, method, path, caller.auditInput?.values ?? {}];
  // PostgreSQL reads 32 hexadecimal digits as a UUID.
  return createHash('sha256').update(JSON.stringify(same)).digest('hex').slice(0, 32);
}

/** The call in the format of audit_append() and the triggers. */
export function auditOf(ctx: Ctx, { method, path: url, failure }: Omit<Line, 'status'>): RequestContext['audit'] {
  const { actor, reqID, caller, mount } = ctx;
  // Without the query, which may contain personal data.
  const path = (url.split('?', 1)[0] ?? '').slice(0, 2048);
  const known = actor.id !== NOBODY;
  const idOrNull = (id: string) => (id === NOBODY ? null : id);
  return JSON.stringify({
    reqID,
    method,
    path,
    actionId: storedActionId(ctx, method, path),
    address: caller.address,
    email: known ? actor.email : (caller.auditName ?? '').slice(0, 320),
    // The kind of account that a sign-in addresses.
    kind: known ? actor.kind : (caller.auditKind ?? (mount === 'root' ? null : mount)),
    accountId: idOrNull(actor.id),
    accountName: known ? actor.name : '',
    clientId: idOrNull(actor.clientId),
    rootId: idOrNull(actor.rootId),
    proxyId: actor.proxy?.id ?? null,
    proxyName: actor.proxy?.name ?? '',
    context: { device: caller.device, ...caller.auditInput, ...failure },
  });
}

const MAX_IDS = 100;
const MAX_NAMES = 20;

/** Data of a call's input for the log: the number of objects, their names, and fields of its sentence. */
export async function auditInputOf(ctx: Ctx, endpoint: Endpoint, input: unknown): Promise<AuditInput> {
  const body = Object.entries(Body.safeParse(input).data?.body ?? {});
  const fields = Object.fromEntries(body);
  const lists = body.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const isAboutOne = 'id' in fields || 'name' in fields || lists.length === 0 || createsOne(endpoint);
  const [listName = '', list = []] = lists.find(([name]) => name === 'ids') ?? lists[0] ?? [];
  const values = SENTENCE_FIELDS.flatMap((name) => {
    const value = SentenceValue.safeParse(fields[name]).data;
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    count: isAboutOne ? 1 : list.length,
    names: isAboutOne
      ? onlyNames([fields['name'] ?? fields['title'] ?? fields['email'] ?? fields['host']])
      : onlyNames(listedNames(listName, list)),
    values: Object.fromEntries(values),
    targets: await findNamedObjects(ctx, [...new Set(idsIn(input))].slice(0, MAX_IDS)),
  };
}
/** Its reply is the object. The lists of its body are the object's fields. */
const createsOne = ({ method, reply }: Endpoint) =>
  method === 'POST' && reply instanceof z.ZodObject && 'id' in reply.shape;
const Body = z.looseObject({ body: z.record(z.string(), z.unknown()) });
const ListEntry = z.looseObject({ name: z.string() });
/** Other texts in lists, such as URLs, may contain secrets. */
const listedNames = (listName: string, list: readonly unknown[]) =>
  list.slice(0, MAX_NAMES).map((entry) => (listName === 'names' ? entry : ListEntry.safeParse(entry).data?.name));
const onlyNames = (values: readonly unknown[]) =>
  values.flatMap((value) => (typeof value === 'string' && value !== '' && !isId(value) ? [value.slice(0, 256)] : []));
const SentenceValue = z.union([z.string().transform((text) => text.slice(0, 256)), z.number(), z.boolean()]);

/** The first ids of an input; lists may have thousands of entries. */
function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return isId(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value)
    .slice(0, MAX_IDS)
    .flatMap((inner: unknown) => idsIn(inner));
}

export const auditing =
  ({ pool }: Pick<Installation, 'pool'>) =>
  async (ctx: Ctx, { status, ...line }: Line): Promise<void> => {
    const call = auditOf(ctx, line);
    const row = { name: 'audit', text: 'SELECT audit_append($1, $2)', values: [call, status] };
    await withoutAudit(() => pool.query(row)).catch((error: unknown) =>
      ctx.log.error({ err: error, audit: call, status }, 'audit row not stored'),
    );
  };

/**
 * Writes rows for calls whose process ended between their changes and their response. The delay is longer than any
 * call.
 */
export const adoptChanges = async ({ pool }: Pick<Installation, 'pool'>): Promise<void> => {
  await pool.query(
    `SELECT audit_append(call, 0) FROM (
       SELECT DISTINCT ON (req_id) call FROM audit_changes WHERE at < now() - interval '10 minutes' ORDER BY req_id, id
     ) left_behind`,
  );
};
