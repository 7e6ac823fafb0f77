// Delivers what waits for one destination. Each destination has its own position, lease and pause after an error, so
// that none waits for another. After a crash the last delivery is repeated.
import { randomUUIDv7 } from 'node:crypto';
import { LogDestinationKind } from '@edgeloom/contract/log-destinations/log-destinations.ts';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import { isUnleased, keepLease, LeaseLostError, leases, RELEASE_LEASE, takeLease, type Lease } from '../core/lease.ts';
import { contexts, type Secrets } from '../core/secrets.ts';
import { deliver, errorCode, SecretError } from './deliver.ts';

/** Uncompressed bytes of one delivery, which a process has in memory. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_BATCHES = 100;
/** Then other destinations have a turn. */
const MAX_DELIVERIES = 20;
/** An object of S3 a minute, rather than one for each batch. */
const S3_SECONDS = 60;
const MAX_PAUSE_SECONDS = 300;
/** Destinations of an operator that are delivered to at the same time, in all processes. */
const MAX_OF_OPERATOR = 10;

interface ClaimedDestination extends Lease {
  siteId: string;
  kind: string;
  settings: unknown;
  secretsSealed: string | null;
  reached: string;
  reachedLines: string;
}

/** Claims a destination for which something waits, of an operator that has free slots. */
export async function claimDestination(pool: Pool): Promise<ClaimedDestination | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<Omit<ClaimedDestination, 'claim'>>(
    `WITH busy AS (
       SELECT s.client_id FROM log_destinations d JOIN sites s ON s.id = d.site_id
       WHERE NOT ${isUnleased('d')} GROUP BY 1 HAVING count(*) >= ${MAX_OF_OPERATOR}
     )
     UPDATE log_destinations SET ${takeLease(leases.logDestinations, '$1')}
     WHERE id = (SELECT d.id FROM log_destinations d JOIN log_spool_heads h ON h.site_id = d.site_id AND h.number > d.reached
                   JOIN sites s ON s.id = d.site_id AND s.client_id NOT IN (SELECT client_id FROM busy)
                 WHERE d.enabled AND d.due_at <= now() AND ${isUnleased('d')}
                 ORDER BY d.due_at, d.id LIMIT 1 FOR UPDATE OF d SKIP LOCKED)
     RETURNING id, site_id AS "siteId", kind, settings, secrets_sealed AS "secretsSealed", reached, reached_lines AS "reachedLines"`,
    [claim],
  );
  return rows[0] ? { ...rows[0], claim } : null;
}

export async function runPush(
  { pool, env, secrets }: Pick<Installation, 'pool' | 'env' | 'secrets'>,
  claimed: ClaimedDestination,
  stopping: AbortSignal,
): Promise<void> {
  const lost = new AbortController();
  const lease = keepLease(pool, leases.logDestinations, claimed, () => lost.abort());
  const signal = AbortSignal.any([stopping, lost.signal]);
  const kind = LogDestinationKind.parse(claimed.kind);
  try {
    const { siteId, settings } = claimed;
    const destination = { siteId, kind, settings, secret: secretOf(secrets, claimed) };
    let isEmpty = false;
    let { reached, reachedLines } = claimed;
    for (let i = 0; i < MAX_DELIVERIES && !isEmpty && !signal.aborted; i += 1) {
      // Before the batches: one that is stored in between is read by the next turn, and not counted as expired.
      const head = await readHead(pool, claimed.siteId);
      const batches = await readBatches(pool, claimed.siteId, reached);
      const [first, last] = [batches[0], batches.at(-1)];
      if (first && last) {
        const data = batches.map((batch) => batch.data);
        await deliver(
          env,
          destination,
          { from: first.number, to: last.number, storedAt: first.storedAt, data },
          new Date(),
          signal,
        );
      }
      const place = last ?? head;
      const sent = batches.reduce((sum, { lines }) => sum + lines, 0);
      const dropped = Number(place.sumLines) - Number(reachedLines) - sent;
      await advance(pool, claimed, place, sent, dropped);
      [reached, reachedLines] = [place.number, place.sumLines];
      // S3 takes the rest in a minute, unless there is more than one object of it.
      isEmpty = batches.length < MAX_BATCHES && batches.reduce((sum, { size }) => sum + size, 0) < MAX_BYTES / 2;
    }
    await release(pool, claimed, isEmpty && kind === 's3' ? S3_SECONDS : 0);
  } catch (error) {
    // The next process repeats the delivery.
    if (signal.aborted) await release(pool, claimed, 0);
    else if (!(error instanceof LeaseLostError)) await recordError(pool, claimed, errorCode(error));
  } finally {
    lease.stop();
  }
}

export function secretOf(secrets: Secrets, { id, secretsSealed }: Pick<ClaimedDestination, 'id' | 'secretsSealed'>) {
  if (secretsSealed === null) return '';
  try {
    return secrets.open(secretsSealed, contexts.logDestination(id));
  } catch (error) {
    throw new SecretError('the secret does not open', { cause: error });
  }
}

interface Batch {
  number: string;
  sumLines: string;
  storedAt: Date;
  lines: number;
  size: number;
  data: Buffer;
}

/** At least one batch, and no more than fits into memory. */
async function readBatches(pool: Pool, siteId: string, reached: string): Promise<Batch[]> {
  const { rows } = await pool.query<Batch>(
    `SELECT s.number, s.sum_lines AS "sumLines", s.stored_at AS "storedAt", s.lines, s.size, s.data
     FROM (SELECT number, sum(size) OVER (ORDER BY number) - size AS before
           FROM (SELECT number, size FROM log_spool WHERE site_id = $1 AND number > $2 ORDER BY number LIMIT ${MAX_BATCHES}) next) due
     JOIN log_spool s ON s.site_id = $1 AND s.number = due.number
     WHERE due.before < ${MAX_BYTES} ORDER BY s.number`,
    [siteId, reached],
  );
  return rows;
}

/** The end of the spool. */
async function readHead(pool: Pool, siteId: string): Promise<Pick<Batch, 'number' | 'sumLines'>> {
  const { rows } = await pool.query<Pick<Batch, 'number' | 'sumLines'>>(
    'SELECT number, lines AS "sumLines" FROM log_spool_heads WHERE site_id = $1',
    [siteId],
  );
  return rows[0] ?? { number: '0', sumLines: '0' };
}

async function advance(
  pool: Pool,
  { id, claim, siteId }: ClaimedDestination,
  { number, sumLines }: Pick<Batch, 'number' | 'sumLines'>,
  sent: number,
  dropped: number,
): Promise<void> {
  const { rowCount } = await pool.query(
    `UPDATE log_destinations SET reached = $3, reached_lines = $4, sent_lines = sent_lines + $5, dropped_lines = dropped_lines + $6,
       succeeded_at = CASE WHEN $5 > 0 THEN now() ELSE succeeded_at END, failing_since = NULL, last_error = '', tries = 0
     WHERE id = $1 AND claimed_by = $2 AND enabled`,
    [id, claim, number, sumLines, sent, dropped],
  );
  if (rowCount === 0) throw new LeaseLostError('the destination was changed, or another process has it');
  await pool.query(
    `DELETE FROM log_spool WHERE site_id = $1 AND number <= (SELECT min(reached) FROM log_destinations WHERE site_id = $1 AND enabled)`,
    [siteId],
  );
}

/** The column would round the time up, and the destination would not be due at once. */
const release = (pool: Pool, { id, claim }: Lease, seconds: number) =>
  pool.query(
    `UPDATE log_destinations SET ${RELEASE_LEASE}, due_at = date_trunc('milliseconds', now()) + make_interval(secs => $3)
     WHERE id = $1 AND claimed_by = $2`,
    [id, claim, seconds],
  );

const recordError = (pool: Pool, { id, claim }: Lease, code: string) =>
  pool.query(
    `UPDATE log_destinations SET ${RELEASE_LEASE}, tries = tries + 1, last_error = $3, failing_since = coalesce(failing_since, now()),
       due_at = now() + interval '1 second' * least(${MAX_PAUSE_SECONDS}, power(2, least(tries, 20)))
     WHERE id = $1 AND claimed_by = $2`,
    [id, claim, code],
  );
