// Limits of a client's license. Counted over the whole client, independent of the caller's scope. A client without a
// license is unlimited. A site's limits come from its product.
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import type { License, Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import { Prisma } from '../generated/client.ts';
import { fail } from './fail.ts';
import type { Installation } from './installation.ts';

export interface ClientLicense {
  /**
   * Call before inserting. Locks until the end of the transaction, so that concurrent inserts cannot exceed the limit.
   */
  assertRoom: (thing: Licensed, more?: number) => Promise<void>;
  assertLayer4: () => Promise<void>;
  /** Like assertRoom, for fixed limits that do not depend on the license. */
  assertBelow: (thing: Bounded, ownerId: string) => Promise<void>;
}

type Bounded = 'roles' | 'zones' | 'certificateRequests';
const bounds: Record<Bounded, { limit: number; count: string }> = {
  roles: { limit: 500, count: 'SELECT count(*)::int FROM roles WHERE owner_id = $1::uuid' },
  zones: { limit: 1000, count: 'SELECT count(*)::int FROM zones WHERE client_id = $1::uuid' },
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

const counted: Record<Licensed, string> = {
  sites: 'SELECT count(*)::int FROM sites WHERE client_id = $1::uuid',
  nodes: 'SELECT count(*)::int FROM nodes n JOIN zones z ON z.id = n.zone_id WHERE z.client_id = $1::uuid',
  zones: 'SELECT count(*)::int FROM zones WHERE client_id = $1::uuid',
  domains: 'SELECT count(*)::int FROM domains d JOIN sites s ON s.id = d.site_id WHERE s.client_id = $1::uuid',
  autoCertificates: `SELECT count(*)::int FROM certificates c JOIN sites s ON s.id = c.site_id
    WHERE s.client_id = $1::uuid AND c.type = 'automatic'`,
};

interface Row {
  limits: License['limits'];
  layer4: boolean;
  endsAt: Date | null;
}
const columns = `layer4, ends_at AS "endsAt", json_build_object('sites', site_limit, 'nodes', node_limit,
  'zones', zone_limit, 'domains', domain_limit, 'autoCertificates', auto_certificate_limit) AS limits`;

/** Within a transaction. Counts in a separate statement, which sees what the lock's previous holder wrote. */
export function licenseIn(tx: Prisma.TransactionClient, clientId: string): ClientLicense {
  const hold = async () => {
    const [row] = await tx.$queryRaw<Row[]>`
      SELECT ${Prisma.raw(columns)} FROM licenses WHERE client_id = ${clientId}::uuid FOR UPDATE`;
    if (row?.endsAt && row.endsAt <= new Date()) fail('LICENSE_EXPIRED');
    return row;
  };
  return {
    async assertRoom(thing, more = 1) {
      const limit = (await hold())?.limits[thing] ?? 0;
      if (limit === 0) return;
      const [found] = await tx.$queryRawUnsafe<{ count: number }[]>(counted[thing], clientId);
      if ((found?.count ?? 0) + more > limit) fail(refusals[thing], { extra: { limit } });
    },
    async assertLayer4() {
      const row = await hold();
      if (row && !row.layer4) fail('ILLEGAL_PORT_TYPE');
    },
    async assertBelow(thing, ownerId) {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`${thing} ${ownerId}`}, 0))`;
      const { limit, count } = bounds[thing];
      const [found] = await tx.$queryRawUnsafe<{ count: number }[]>(count, ownerId);
      if ((found?.count ?? 0) >= limit) fail('LIMIT_REACHED', { extra: { limit } });
    },
  };
}

const everyCount = Object.entries(counted)
  .map(([thing, count]) => `'${thing}', (${count})`)
  .join(', ');
const none = {
  limits: { sites: 0, nodes: 0, zones: 0, domains: 0, autoCertificates: 0 },
  layer4: true,
  endsAt: null,
};

/** A client's limits and their current use. */
export async function readLicense({ pool }: Pick<Installation, 'pool'>, clientId: string): Promise<License> {
  const [own, used] = await Promise.all([
    pool.query<Row>(`SELECT ${columns} FROM licenses WHERE client_id = $1`, [clientId]),
    pool.query<Pick<License, 'uses'>>(`SELECT json_build_object(${everyCount}) AS uses`, [clientId]),
  ]);
  const { uses } = used.rows[0] ?? { uses: none.limits };
  return { ...none, ...own.rows[0], uses };
}
