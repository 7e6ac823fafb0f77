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
  zoneId: string;
  keyType: 'ecdsa' | 'rsa';
  names: string[];
  ca: string | null;
  orderUrl: string | null;
  keySealed: string | null;
  csrPem: string | null;
  passed: string[];
  tries: number;
  jobId: string | null;
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

const LEASE = `interval '60 seconds'`;
const RENEW_MS = 20_000;

/** The order that has been due for longest and that nobody works on. */
export async function claimOrder(pool: Pool, now: Date): Promise<{ order: OrderRow; claim: string } | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<OrderRow>(
    `UPDATE certificate_orders o SET claimed_until = now() + ${LEASE}, claimed_by = $2
     FROM certificates c, sites s
     WHERE c.id = o.certificate_id AND s.id = c.site_id AND o.id = (
       SELECT id FROM certificate_orders
       WHERE state = 'open' AND due_at <= $1 AND (claimed_until IS NULL OR claimed_until < now())
       ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING o.id, c.id AS "certificateId", s.id AS "siteId", s.zone_id AS "zoneId", o.key_type AS "keyType", c.names,
       o.ca, o.order_url AS "orderUrl", o.key_sealed AS "keySealed", o.csr_pem AS "csrPem", o.passed, o.tries,
       o.job_id AS "jobId"`,
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
