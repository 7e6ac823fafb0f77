// Pushes logs of sites to their destinations, in every process with a lease per destination.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';
import { locks } from '../core/locks.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { claimDestination, runPush } from '../log-push/run-push.ts';

/** A destination that does not respond takes ten seconds, and then pauses for longer and longer. */
const MAX_CONCURRENT = 40;
const KEEP_HOURS = 24;
const MAX_SITE_BYTES = 256 * 1024 * 1024;
/** Limit of all sites of an operator. */
const MAX_OPERATOR_BYTES = 1024 ** 3;
/** Limit of all operators. If they have more together, each keeps an equal share. */
const MAX_BYTES = 16 * 1024 ** 3;

export const startLogPush = (installation: Installation, log: Pick<FastifyBaseLogger, 'warn'>) =>
  startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'log_destinations',
    maxConcurrent: MAX_CONCURRENT,
    claim: () => claimDestination(installation.pool),
    run: (claimed, stopping) => runPush(installation, claimed, stopping),
    failures: { run: 'logs were not pushed', claim: 'destinations of logs could not be claimed' },
    log,
  });

/**
 * Deletes batches that no destination waits for, and too old or too many ones, which destinations count. One process
 * at a time.
 */
export const sweepLogSpool = ({ pool }: Pick<Installation, 'pool'>): Promise<void> =>
  withClient(pool, (client) =>
    inTransaction(client, async () => {
      const { rows } = await client.query<{ isFree: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isFree"', [
        locks.logSpool,
      ]);
      if (rows[0]?.isFree !== true) return;
      await client.query(`DELETE FROM log_spool WHERE stored_at < now() - interval '${KEEP_HOURS} hours'`);
      await client.query(deliveredSql);
      await client.query(excessSql);
    }),
  );

/** Up to the position that all destinations have reached. */
const deliveredSql = `DELETE FROM log_spool l USING (
    SELECT h.site_id, coalesce(
      (SELECT min(d.reached) FROM log_destinations d WHERE d.site_id = h.site_id AND d.enabled), h.number) AS number
    FROM log_spool_heads h
  ) done WHERE l.site_id = done.site_id AND l.number <= done.number`;

/** Batches are numbered only for sites and operators that exceed their share: the others are sums of an index. */
const excessSql = `WITH of_sites AS (
    SELECT l.site_id, s.client_id, sum(l.bytes) AS bytes FROM log_spool l JOIN sites s ON s.id = l.site_id GROUP BY 1, 2
  ), of_operators AS (
    SELECT client_id, sum(bytes) AS bytes FROM of_sites GROUP BY 1
  ), share AS (
    SELECT CASE WHEN sum(bytes) > ${MAX_BYTES} THEN least(${MAX_OPERATOR_BYTES}, ${MAX_BYTES} / count(*)) ELSE ${MAX_OPERATOR_BYTES} END AS bytes
    FROM of_operators
  ), newest AS (
    SELECT l.site_id, l.number,
      sum(l.bytes) OVER (PARTITION BY l.site_id ORDER BY l.number DESC) AS site_bytes,
      sum(l.bytes) OVER (PARTITION BY s.client_id ORDER BY l.stored_at DESC, l.site_id, l.number DESC) AS operator_bytes
    FROM of_sites s JOIN of_operators o USING (client_id) JOIN log_spool l ON l.site_id = s.site_id
    WHERE s.bytes > ${MAX_SITE_BYTES} OR o.bytes > (SELECT bytes FROM share)
  )
  DELETE FROM log_spool l USING newest n, share
  WHERE l.site_id = n.site_id AND l.number = n.number
    AND (n.site_bytes > ${MAX_SITE_BYTES} OR n.operator_bytes > share.bytes)`;
