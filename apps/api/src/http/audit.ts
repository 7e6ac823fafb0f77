// Who did what: a row for each write and each sign-in, refused ones included. A call whose row cannot be written is
// answered all the same (it has happened), and the line goes to the log instead.
import type { Ctx } from '../core/ctx.ts';
import { NOBODY } from '../core/ctx.ts';
import type { Installation } from '../core/installation.ts';

export const auditing =
  ({ db }: Pick<Installation, 'db'>) =>
  async ({ actor, reqID, caller, log }: Ctx, line: { method: string; path: string; status: number }): Promise<void> => {
    const path = line.path.split('?', 1)[0] ?? '';
    const known = actor.id !== NOBODY;
    const row = {
      reqId: reqID,
      method: line.method,
      path: path.slice(0, 2048),
      status: line.status,
      address: caller.address,
      email: known ? actor.email : (caller.auditName ?? ''),
      accountId: known ? actor.id : null,
      clientId: actor.clientId === NOBODY ? null : actor.clientId,
    };
    await db.auditRow
      .create({ data: row })
      .catch((error: unknown) => log.error({ err: error, audit: row }, 'audit row not stored'));
  };
