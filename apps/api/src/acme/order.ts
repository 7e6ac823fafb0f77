// One order as a process handles it. Everything that must survive a crash is stored: the order's URL at the authority,
// key and request, challenges. Any process can resume it.
import { randomUUIDv7 } from 'node:crypto';
import type { CertificateStep } from '@edgeloom/contract/certificates/certificates.ts';
import type { Pool, PoolClient } from 'pg';
import type { Installation } from '../core/installation.ts';
import { isUnleased, leases, LeaseLostError, takeLease } from '../core/lease.ts';
import type { Authority } from '../core/env.ts';

export type Deps = Pick<Installation, 'env' | 'pool' | 'secrets'>;

export interface OrderRow {
  id: string;
  certificateId: string;
  siteId: string;
  clientId: string;
  zoneId: string;
  keyType: 'ecdsa' | 'rsa';
  names: string[];
  ca: string | null;
  placedAt: Date | null;
  orderUrl: string | null;
  keySealed: string | null;
  csrPem: string | null;
  passed: string[];
  tries: number;
  jobId: string | null;
  /** Ordered for a domain: it replaces the domain's current certificate. */
  takesOver: boolean;
}
export interface Work {
  deps: Deps;
  order: OrderRow;
  /** Identifies this process's lease of the order. */
  claim: string;
  now: () => Date;
  /** Aborted on shutdown. */
  signal: AbortSignal;
  authority: Authority;
}

/** Rate limit window of an authority. */
export const BUDGET_HOURS = 3;

/**
 * Claims a due order. Fair: the client with the fewest recent orders first, then its site with the fewest, then the
 * oldest order. A thousand orders of one site delay no other.
 */
export async function claimOrder(pool: Pool, now: Date): Promise<{ order: OrderRow; claim: string } | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<OrderRow>(
    `WITH had AS (
       SELECT site_id, client_id FROM acme_placements WHERE at > $1::timestamptz - interval '${BUDGET_HOURS} hours'
       UNION ALL
       SELECT s.id, s.client_id FROM certificate_orders o JOIN certificates c ON c.id = o.certificate_id
         JOIN sites s ON s.id = c.site_id WHERE o.state = 'open' AND o.claimed_until >= now()),
     by_site AS (SELECT site_id, count(*) AS n FROM had GROUP BY site_id),
     by_client AS (SELECT client_id, count(*) AS n FROM had GROUP BY client_id)
     UPDATE certificate_orders o SET ${takeLease(leases.certificateOrders, '$2')}
     FROM certificates c, sites s
     WHERE c.id = o.certificate_id AND s.id = c.site_id AND o.id = (
       SELECT due.id FROM certificate_orders due
         JOIN certificates dc ON dc.id = due.certificate_id JOIN sites ds ON ds.id = dc.site_id
         LEFT JOIN by_site ON by_site.site_id = ds.id LEFT JOIN by_client ON by_client.client_id = ds.client_id
       WHERE due.state = 'open' AND due.due_at <= $1 AND ${isUnleased('due')}
       ORDER BY coalesce(by_client.n, 0), coalesce(by_site.n, 0), due.due_at, due.id LIMIT 1
       FOR UPDATE OF due SKIP LOCKED)
     RETURNING o.id, c.id AS "certificateId", s.id AS "siteId", s.client_id AS "clientId", s.zone_id AS "zoneId",
       o.key_type AS "keyType", c.names, o.ca, o.placed_at AS "placedAt", o.order_url AS "orderUrl",
       o.key_sealed AS "keySealed", o.csr_pem AS "csrPem", o.passed, o.tries, o.job_id AS "jobId",
       EXISTS (SELECT FROM jobs j WHERE j.id = o.job_id AND j.kind = 'issueCertificates') AS "takesOver"`,
    [now, claim],
  );
  const [order] = rows;
  return order ? { order, claim } : null;
}

type Column =
  | 'ca'
  | 'order_url'
  | 'key_sealed'
  | 'csr_pem'
  | 'placed_at'
  | 'due_at'
  | 'tries'
  | 'passed'
  | 'claimed_until';

/** Updates the order while this process still holds its lease. */
export async function setOrder(
  client: Pick<PoolClient, 'query'>,
  { order, claim }: Pick<Work, 'order' | 'claim'>,
  columns: Partial<Record<Column, string | number | Date | string[] | null>>,
): Promise<void> {
  const names = Object.keys(columns);
  const { rowCount } = await client.query(
    `UPDATE certificate_orders SET ${names.map((name, i) => `${name} = $${i + 3}`).join(', ')}
     WHERE id = $1 AND claimed_by = $2 AND state = 'open'`,
    [order.id, claim, ...Object.values(columns)],
  );
  if (rowCount !== 1) throw new LeaseLostError();
}

export async function note(
  client: Pick<PoolClient, 'query'>,
  { order, now, authority }: Pick<Work, 'order' | 'now'> & { authority: Pick<Authority, 'name'> | null },
  step: CertificateStep,
  detail: string | null = null,
): Promise<void> {
  await client.query(
    `INSERT INTO certificate_events (id, certificate_id, at, step, key_type, ca, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      randomUUIDv7(),
      order.certificateId,
      now(),
      step,
      order.keyType,
      authority?.name ?? null,
      detail === null ? null : oneLine(detail),
    ],
  );
}

/** An authority's texts are untrusted. */
export const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, 2000);
