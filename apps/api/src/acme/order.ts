// One order as a process works on it. All that must outlive the process is a row: the address of the order at the
// authority, the key and the request, the challenges. So whoever takes the order up after a death goes on where it was.
import { randomUUIDv7 } from 'node:crypto';
import type { CertificateStep } from '@edgeloom/contract/certificates/certificates.ts';
import type { Pool, PoolClient } from 'pg';
import type { Installation } from '../core/installation.ts';
import type { Authority } from '../env.ts';

export type Here = Pick<Installation, 'env' | 'pool' | 'secrets'>;

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
  /** It was asked for by domain: it takes the place of what the domain is served with. */
  takesOver: boolean;
}
export interface Work {
  here: Here;
  order: OrderRow;
  /** Of this process, for this order, until it is done with it. */
  claim: string;
  now: () => Date;
  /** The process is to stop. */
  signal: AbortSignal;
  authority: Authority;
}

/** Another process has the order: this one took too long over something. */
export class ClaimLost extends Error {}

/** For so long an authority counts an order. */
export const BUDGET_HOURS = 3;
const LEASE = `interval '60 seconds'`;
const RENEW_MS = 20_000;

/**
 * Of the orders that are due and that nobody works on: of the client that has had the fewest lately, its site that has had
 * the fewest, and there the one that has waited longest. A thousand of one site keep nobody else waiting.
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
     UPDATE certificate_orders o SET claimed_until = now() + ${LEASE}, claimed_by = $2
     FROM certificates c, sites s
     WHERE c.id = o.certificate_id AND s.id = c.site_id AND o.id = (
       SELECT due.id FROM certificate_orders due
         JOIN certificates dc ON dc.id = due.certificate_id JOIN sites ds ON ds.id = dc.site_id
         LEFT JOIN by_site ON by_site.site_id = ds.id LEFT JOIN by_client ON by_client.client_id = ds.client_id
       WHERE due.state = 'open' AND due.due_at <= $1 AND (due.claimed_until IS NULL OR due.claimed_until < now())
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

/** While the work goes on, the order stays this process's. */
export function keepClaim(pool: Pool, { id }: Pick<OrderRow, 'id'>, claim: string): { stop: () => void } {
  const timer = setInterval(() => {
    const renewal = `UPDATE certificate_orders SET claimed_until = now() + ${LEASE} WHERE id = $1 AND claimed_by = $2`;
    // One that fails is made up for by the next; the last word is `mine`.
    pool.query(renewal, [id, claim]).catch(() => undefined);
  }, RENEW_MS).unref();
  return { stop: () => clearInterval(timer) };
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

/** Writes of the order what is still this process's to write. */
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
  if (rowCount !== 1) throw new ClaimLost();
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

/** An authority's words are a stranger's. */
export const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, 2000);
