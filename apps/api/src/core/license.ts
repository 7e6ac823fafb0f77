// Limits of a client's license and of the installation's offline license. Counted over the whole client or
// installation, independent of the caller's scope. Without a license there are no limits. A site's limits come from its
// product.
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import type { License, Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import { MAX_WEBHOOKS } from '@edgeloom/contract/webhooks/webhooks.ts';
import type { Prisma } from '../generated/client.ts';
import { dryRunClient } from './dry-run-transaction.ts';
import { fail } from './fail.ts';
import type { Installation } from './installation.ts';
import {
  limitsOf,
  ofInstallation,
  selectLoaded,
  termsInForce,
  totals,
  type LicenseRow,
} from './installation-license.ts';
import { sql, textOf, type Sql } from './sql.ts';

export interface ClientLicense {
  /**
   * Call it last, after inserting: it locks until the end of the transaction, so that concurrent inserts cannot exceed
   * the limit. `more` are rows that are not inserted yet. The installation's license is locked only if it limits this.
   */
  assertRoom: (thing: Licensed, more?: number) => Promise<void>;
  assertLayer4: () => Promise<void>;
  /** Serializes changes of a client's license, also of its first one, or of an offer, until the transaction ends. */
  lock: (id: string) => Promise<void>;
  /** The counter of the next offline license file that is issued here: at least this number, in milliseconds. */
  nextCounter: (least: number) => Promise<number>;
  /** Like assertRoom, for fixed limits that do not depend on the license. */
  assertBelow: (thing: Bounded, ownerId: string) => Promise<void>;
}

type Bounded = 'roles' | 'zones' | 'certificateRequests' | 'webhooks';
const bounds: Record<Bounded, { limit: number; count: string }> = {
  roles: { limit: 500, count: 'SELECT count(*)::int FROM roles WHERE owner_id = $1::uuid' },
  zones: { limit: 1000, count: 'SELECT count(*)::int FROM zones WHERE client_id = $1::uuid' },
  webhooks: {
    limit: MAX_WEBHOOKS,
    count: `SELECT count(*)::int FROM alert_channels WHERE account_id = $1::uuid AND type = 'webhook'`,
  },
  // Counted for the customer, or the operator for sites without one.
  certificateRequests: {
    limit: 200,
    count: `SELECT count(*)::int FROM certificates c JOIN sites s ON s.id = c.site_id
      WHERE coalesce(s.owner_id, s.client_id) = $1::uuid AND c.csr_pem IS NOT NULL`,
  },
};

const refusals: Record<Licensed, ErrorName> = {
  sites: 'SITE_LIMIT',
  nodes: 'NODE_LIMIT',
  zones: 'ZONE_LIMIT',
  domains: 'DOMAIN_LIMIT',
  autoCertificates: 'AUTO_SSL_LIMIT',
};

/** Subqueries that count what a client uses. `client` is its id. */
export const usesOf = (client: Sql): Record<Licensed, Sql> => ({
  sites: sql`(SELECT count(*)::int FROM sites s WHERE s.client_id = ${client})`,
  nodes: sql`(SELECT count(*)::int FROM nodes n JOIN zones z ON z.id = n.zone_id WHERE z.client_id = ${client})`,
  zones: sql`(SELECT count(*)::int FROM zones z WHERE z.client_id = ${client})`,
  domains: sql`(SELECT count(*)::int FROM domains d JOIN sites s ON s.id = d.site_id WHERE s.client_id = ${client})`,
  autoCertificates: sql`(SELECT count(*)::int FROM certificates x JOIN sites s ON s.id = x.site_id
    WHERE s.client_id = ${client} AND x.type = 'automatic')`,
});

type Limits = Omit<License, 'uses'>;

/** Limits from `licenses l`. A missing row is a client without limits. */
const limitColumns = sql`l.offer_name AS name, coalesce(l.layer4, TRUE) AS layer4, l.ends_at AS "endsAt",
  coalesce(l.monitor_seconds, 0) AS "monitorSeconds",
  json_build_object('sites', coalesce(l.site_limit, 0), 'nodes', coalesce(l.node_limit, 0), 'zones', coalesce(l.zone_limit, 0),
    'domains', coalesce(l.domain_limit, 0), 'autoCertificates', coalesce(l.auto_certificate_limit, 0)) AS limits`;

/** Columns of `licenses l`, which may be missing, and the use of the client with this id. */
export function licenseColumns(client: Sql): Sql {
  const { sites, nodes, zones, domains, autoCertificates } = usesOf(client);
  return sql`${limitColumns}, json_build_object('sites', ${sites}, 'nodes', ${nodes}, 'zones', ${zones},
    'domains', ${domains}, 'autoCertificates', ${autoCertificates}) AS uses`;
}

/** Within a transaction. Counts in a separate statement, which sees what the lock's previous holder wrote. */
export function licenseIn(tx: Prisma.TransactionClient, clientId: string, isDryRun = false): ClientLicense {
  const client = sql`${clientId}::uuid`;
  const read = async <T>(statement: Sql): Promise<T | undefined> =>
    (await tx.$queryRawUnsafe<T[]>(textOf(statement), ...statement.values))[0];
  const hold = async () => {
    const row = await read<Limits>(
      sql`SELECT ${limitColumns} FROM licenses l WHERE l.client_id = ${client} FOR UPDATE`,
    );
    if (row?.endsAt && row.endsAt <= new Date()) fail('LICENSE_EXPIRED');
    return row;
  };
  const countOf = async (uses: Sql) => (await read<{ count: number }>(sql`SELECT ${uses} AS count`))?.count ?? 0;
  const lock = (name: string) => tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
  const readInstallation = async () => {
    const row = await read<LicenseRow>(selectLoaded);
    return row ? termsInForce(row) : null;
  };
  const assertInstallationRoom = async (thing: Licensed, more: number) => {
    const terms = await readInstallation();
    const limit = terms ? limitsOf(terms)[thing] : 0;
    if (limit === 0) return;
    // Inserts of all operators wait for this lock. A dry run inserts nothing that lasts.
    if (!isDryRun && !dryRunClient()) await lock(`installation license ${thing}`);
    // Operators do not see the size of the installation.
    if ((await countOf(totals[thing])) + more > limit) fail(refusals[thing], ofInstallation);
  };
  return {
    async assertRoom(thing, more = 0) {
      const limit = (await hold())?.limits[thing] ?? 0;
      if (limit > 0 && (await countOf(usesOf(client)[thing])) + more > limit)
        fail(refusals[thing], { extra: { limit } });
      await assertInstallationRoom(thing, more);
    },
    async assertLayer4() {
      const own = await hold();
      if (own && !own.layer4) fail('ILLEGAL_PORT_TYPE');
      const terms = await readInstallation();
      if (terms && !terms.layer4) fail('ILLEGAL_PORT_TYPE', ofInstallation);
    },
    async lock(id) {
      await lock(`license ${id}`);
    },
    async nextCounter(least) {
      await lock('license counter');
      const row = await read<{ counter: number }>(
        sql`SELECT setval('license_counter', greatest(nextval('license_counter'), ${least}::bigint))::float8 AS counter`,
      );
      return row?.counter ?? least;
    },
    async assertBelow(thing, ownerId) {
      await lock(`${thing} ${ownerId}`);
      const { limit, count } = bounds[thing];
      const [found] = await tx.$queryRawUnsafe<{ count: number }[]>(count, ownerId);
      if ((found?.count ?? 0) >= limit) fail('LIMIT_REACHED', { extra: { limit } });
    },
  };
}

/** A client's limits and their current use. */
export async function readLicense({ pool }: Pick<Installation, 'pool'>, clientId: string): Promise<License> {
  const statement = sql`SELECT ${licenseColumns(sql`c.id`)}
    FROM (SELECT ${clientId}::uuid AS id) c LEFT JOIN licenses l ON l.client_id = c.id`;
  const { rows } = await pool.query<License>(textOf(statement), [...statement.values]);
  return rows[0] ?? fail('NOT_FOUND');
}
