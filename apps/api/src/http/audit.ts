// Who did what: a row for each call that writes and each sign-in, refused ones included. What a call changed stands
// there already, put down by the database's triggers in the call's own transaction (migration audit_limits); here the row
// is written that says who, from where and with which outcome. One that cannot be written costs nobody their answer:
// the line goes to the log, and what was changed waits for adoptChanges.
import { whoever, type Call } from '../core/call.ts';
import { NOBODY, type Ctx } from '../core/ctx.ts';
import type { Installation } from '../core/installation.ts';

export interface Line {
  method: string;
  path: string;
  status: number;
}

/** The call as audit_append() and the triggers know it. */
export function auditOf({ actor, reqID, caller, mount }: Ctx, { method, path }: Omit<Line, 'status'>): Call['audit'] {
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
  });
}

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
