// Who did what: a row for each call that writes and each sign-in, refused ones included. The database's triggers have
// recorded the changes in the call's own transaction (migration audit_limits); here the row is written that says who, from
// where and with which outcome. A row that cannot be written never costs a caller the response: the line goes to the log,
// and the changes wait for adoptChanges.
import * as z from 'zod';
import { whoever, type Call } from '../core/call.ts';
import { NOBODY, type AuditInput, type Ctx } from '../core/ctx.ts';
import type { Installation } from '../core/installation.ts';
import { findNamedObjects } from '../core/named-objects.ts';

export interface Line {
  method: string;
  path: string;
  status: number;
  /** Of a failed call: its error code, and the values that the code's phrase names. */
  failure?: { code: number; extra?: Readonly<Record<string, unknown>> } | undefined;
}

/** The call as audit_append() and the triggers know it. */
export function auditOf(
  { actor, reqID, caller, mount }: Ctx,
  { method, path, failure }: Omit<Line, 'status'>,
): Call['audit'] {
  const known = actor.id !== NOBODY;
  const someone = (id: string) => (id === NOBODY ? null : id);
  return JSON.stringify({
    reqID,
    method,
    // The query is left out: what it may hold is nobody's business for years.
    path: (path.split('?', 1)[0] ?? '').slice(0, 2048),
    address: caller.address,
    email: known ? actor.email : (caller.auditName ?? '').slice(0, 320),
    // Whom a sign-in names: the account of this kind.
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
/** Fields that the log's sentences say. None of them is a secret in any call. */
const SPOKEN = [
  'name',
  'title',
  'email',
  'host',
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

/** What the log says of a call's input: how many things it is about, their names, and the fields above. */
export async function auditInputOf(ctx: Ctx, input: unknown): Promise<AuditInput> {
  const body = Object.entries(Body.safeParse(input).data?.body ?? {});
  const fields = Object.fromEntries(body);
  const lists = body.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const isOne = 'id' in fields || 'name' in fields || lists.length === 0;
  const list = lists.find(([name]) => name === 'ids') ?? lists[0];
  const values = SPOKEN.flatMap((name) => {
    const value = Spoken.safeParse(fields[name]).data;
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    count: isOne ? 1 : (list?.[1].length ?? 1),
    values: Object.fromEntries(values),
    targets: await findNamedObjects(ctx, [...new Set(idsIn(input))].slice(0, IDS_AT_MOST)),
  };
}
const Body = z.looseObject({ body: z.record(z.string(), z.unknown()) });
const Spoken = z.union([z.string().transform((text) => text.slice(0, 256)), z.number(), z.boolean()]);

/** The first ids of an input; one list of it may have thousands of entries. */
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

/** Rows for calls whose process died between their changes and their answer. No call takes as long as this waits. */
export const adoptChanges = async ({ pool }: Pick<Installation, 'pool'>): Promise<void> => {
  await pool.query(
    `SELECT audit_append(call, 0) FROM (
       SELECT DISTINCT ON (req_id) call FROM audit_changes WHERE at < now() - interval '10 minutes' ORDER BY req_id, id
     ) left_behind`,
  );
};
