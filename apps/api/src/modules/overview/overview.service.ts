import type { Overview } from '@edgeloom/contract/overview/overview.ts';
import type { Ctx } from '../../core/ctx.ts';
import { memoizeLatest } from '../../core/memoize.ts';
import { sql } from '../../core/sql.ts';
import { readInstallationState } from '../system/installation-state.ts';

type Customers = NonNullable<Overview['customers']>;

/** Each open page polls the overview, and the counts cost more in a larger installation. */
const MAX_AGE_MS = 15_000;
const customersOnce = memoizeLatest<Customers | null>();
const stateOnce = memoizeLatest<Omit<Overview, 'customers'>>();

/** All administrators see the same counts, so they share one result of each period. */
export async function get(ctx: Ctx): Promise<Overview> {
  const { env, pool } = ctx.installation;
  const period = String(Math.floor(ctx.now().getTime() / MAX_AGE_MS));
  const [customers, state] = await Promise.all([
    ctx.actor.permissions.has('account:read')
      ? customersOnce(env.DATABASE_URL, period, () => readCustomers(ctx))
      : null,
    stateOnce(env.DATABASE_URL, period, () => readInstallationState(pool)),
  ]);
  return { customers, ...state };
}

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
