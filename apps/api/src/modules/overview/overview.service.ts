import type { Overview } from '@edgeloom/contract/overview/overview.ts';
import type { Ctx } from '../../core/ctx.ts';
import { sql } from '../../core/sql.ts';
import { readInstallationState } from '../system/installation-state.ts';

export async function get(ctx: Ctx): Promise<Overview> {
  const [customers, { nodes, queues, failingDocuments }] = await Promise.all([
    ctx.actor.permissions.has('account:read') ? readCustomers(ctx) : null,
    readInstallationState(ctx.installation.pool),
  ]);
  return { customers, nodes, queues, failingDocuments };
}

type Customers = NonNullable<Overview['customers']>;

async function readCustomers({ db }: Ctx): Promise<Customers | null> {
  const [found] = await db.$read<Customers>(
    ({ account, installation }) => sql`
      SELECT (count(*) FILTER (WHERE a.kind = 'client'))::int AS operators,
        (count(*) FILTER (WHERE a.kind = 'client' AND a.status <> 'normal'))::int AS "blockedOperators",
        (count(*) FILTER (WHERE a.kind = 'user'))::int AS users,
        (SELECT count(*)::int FROM sites WHERE ${installation}) AS sites,
        (SELECT count(*)::int FROM domains WHERE ${installation}) AS domains
      FROM accounts a WHERE ${account} AND a.is_root AND a.kind <> 'admin'`,
  );
  return found ?? null;
}
