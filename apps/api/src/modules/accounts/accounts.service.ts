import type { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import type { Request } from '@edgeloom/contract/endpoint.ts';
import type { Ctx } from '../../core/ctx.ts';
import { containing, pageOf } from '../../core/page.ts';

export async function list({ db }: Ctx, { auth, name, status, ...paging }: Request<typeof accounts.list>['query']) {
  const where = {
    ...(auth && { kind: auth }),
    ...(status && { status }),
    ...(name && { OR: [{ name: containing(name) }, { email: containing(name) }] }),
  };
  const select = { id: true, email: true, name: true, kind: true, status: true, isRoot: true, createdAt: true };
  const [rows, total] = await Promise.all([
    db.account.findMany({ where, select, ...pageOf(paging) }),
    db.account.count({ where }),
  ]);
  return { data: rows.map(({ kind, ...row }) => ({ ...row, auth: kind })), total };
}
