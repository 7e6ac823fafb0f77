// Writes the audit log: a row for each writing call and each sign-in, failed ones included. Database triggers record
// the changes in the call's own transaction (migration audit_limits); this adds who called, from where and with which
// result. If the row cannot be written, the response is still sent: the row goes to the process log, and the changes
// wait for adoptChanges.
import * as z from 'zod';
import { whoever, type Call } from '../core/call.ts';
import { NOBODY } from '../core/actor.ts';
import type { AuditInput, Ctx } from '../core/ctx.ts';
import type { Installation } from '../core/installation.ts';
import { findNamedObjects } from '../core/named-objects.ts';

export interface Line {
  method: string;
  path: string;
  status: number;
  /** Of a failed call: its error code, and the values that the message of the code contains. */
  failure?: { code: number; extra?: Readonly<Record<string, unknown>> } | undefined;
}

/** The call as audit_append() and the triggers expect it. */
export function auditOf(
  { actor, reqID, caller, mount }: Ctx,
  { method, path, failure }: Omit<Line, 'status'>,
): Call['audit'] {
  const known = actor.id !== NOBODY;
  const someone = (id: string) => (id === NOBODY ? null : id);
  return JSON.stringify({
    reqID,
    method,
    // Without the query, which may contain personal data.
    path: (path.split('?', 1)[0] ?? '').slice(0, 2048),
    address: caller.address,
    email: known ? actor.email : (caller.auditName ?? '').slice(0, 320),
    // The kind of account that a sign-in addresses.
    kind: known ? actor.kind : (caller.auditKind ?? (mount === 'root' ? null : mount)),
    accountId: someone(actor.id),
    accountName: known ? actor.name : '',
    clientId: someone(actor.clientId),
    rootId: someone(actor.rootId),
    proxyId: actor.proxy?.id ?? null,
    proxyName: actor.proxy?.name ?? '',
    context: { device: caller.device, ...caller.auditInput, ...failure },
  });
}

const IDS_AT_MOST = 100;
const NAMES_AT_MOST = 20;
/** Fields that the log's sentences use. None of them is a secret in any call. */
const SHOWN_FIELDS = [
  'name',
  'cname',
  'port',
  'enabled',
  'enable',
  'assigned',
  'forceSSL',
  'off',
  'status',
  'role',
  'product',
  'version',
  'preview',
] as const;

/** What the log stores of a call's input: the number of objects, their names, and the fields above. */
export async function auditInputOf(ctx: Ctx, input: unknown): Promise<AuditInput> {
  const body = Object.entries(Body.safeParse(input).data?.body ?? {});
  const fields = Object.fromEntries(body);
  const lists = body.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const isOne = 'id' in fields || 'name' in fields || lists.length === 0;
  const list = lists.find(([name]) => name === 'ids') ?? lists[0];
  const values = SHOWN_FIELDS.flatMap((name) => {
    const value = ShownValue.safeParse(fields[name]).data;
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    count: isOne ? 1 : (list?.[1].length ?? 1),
    names: isOne
      ? namesIn([fields['name'] ?? fields['title'] ?? fields['email'] ?? fields['host']])
      : namesIn(listed(list)),
    values: Object.fromEntries(values),
    targets: await findNamedObjects(ctx, [...new Set(idsIn(input))].slice(0, IDS_AT_MOST)),
  };
}
const Entry = z.looseObject({ name: z.string() });
/** Other texts of lists, such as URLs, may hold secrets. */
const listed = ([name, entries]: readonly [string, unknown[]] = ['', []]) =>
  entries.slice(0, NAMES_AT_MOST).map((entry) => (name === 'names' ? entry : Entry.safeParse(entry).data?.name));
const namesIn = (found: readonly unknown[]) =>
  found.flatMap((name) => (typeof name === 'string' && name !== '' && !Uuid.test(name) ? [name.slice(0, 256)] : []));
const Body = z.looseObject({ body: z.record(z.string(), z.unknown()) });
const ShownValue = z.union([z.string().transform((text) => text.slice(0, 256)), z.number(), z.boolean()]);

/** The first ids of an input; lists may have thousands of entries. */
function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return Uuid.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value)
    .slice(0, IDS_AT_MOST)
    .flatMap((inner: unknown) => idsIn(inner));
}
const Uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const auditing =
  ({ pool }: Pick<Installation, 'pool'>) =>
  async (ctx: Ctx, { status, ...line }: Line): Promise<void> => {
    const call = auditOf(ctx, line);
    const row = { name: 'audit', text: 'SELECT audit_append($1, $2)', values: [call, status] };
    await whoever(() => pool.query(row)).catch((error: unknown) =>
      ctx.log.error({ err: error, audit: call, status }, 'audit row not stored'),
    );
  };

/**
 * Writes rows for calls whose process ended between their changes and their answer. The delay is longer than any call.
 */
export const adoptChanges = async ({ pool }: Pick<Installation, 'pool'>): Promise<void> => {
  await pool.query(
    `SELECT audit_append(call, 0) FROM (
       SELECT DISTINCT ON (req_id) call FROM audit_changes WHERE at < now() - interval '10 minutes' ORDER BY req_id, id
     ) left_behind`,
  );
};
