// Receipts of jobs by node. The database creates them with the job.
import type { Pool } from 'pg';

export interface Reached {
  nodeId: string;
  revision: number;
  /** JSON of what the node rejected at this revision. The stored state may already be another message's. */
  rejected: string;
  tookMs: number | null;
}

/** A purge by version is complete on a node once it has applied the document with the version. */
export async function receiptsByRevision(pool: Pool, reached: Reached[]): Promise<void> {
  const { rows } = await pool.query<{ jobId: string }>(
    `UPDATE job_receipts r SET
       state = CASE WHEN refusal.error IS NULL THEN 'done' ELSE 'failed' END,
       error = refusal.error, took_ms = a.took_ms, answered_at = now()
     FROM unnest($1::uuid[], $2::int[], $3::text[], $4::float8[]) AS a(node_id, revision, rejected, took_ms)
     JOIN job_receipts p ON p.node_id = a.node_id AND p.state = 'pending'
     JOIN jobs j ON j.id = p.job_id AND j.doc_keys <> '{}' AND j.revision <= a.revision
     LEFT JOIN LATERAL (
       SELECT x.error FROM jsonb_to_recordset(a.rejected::jsonb) AS x(key text, error text)
       WHERE x.key = ANY(j.doc_keys) LIMIT 1
     ) refusal ON true
     WHERE r.job_id = p.job_id AND r.node_id = p.node_id
     RETURNING r.job_id AS "jobId"`,
    [
      reached.map(({ nodeId }) => nodeId),
      reached.map(({ revision }) => revision),
      reached.map(({ rejected }) => rejected),
      reached.map(({ tookMs }) => tookMs),
    ],
  );
  if (rows.length > 0) await settleJobs(pool);
}

/** Ends jobs without pending receipts of serving nodes. */
export async function settleJobs(pool: Pool): Promise<void> {
  await pool.query(
    `UPDATE jobs j SET ended_at = now(), state =
       CASE WHEN EXISTS (SELECT FROM job_receipts r WHERE r.job_id = j.id AND r.state = 'failed') THEN 'failed' ELSE 'completed' END
     WHERE j.state = 'processing' AND (j.kind LIKE 'purge%' OR j.kind = 'preheat') AND (j.doc_keys = '{}' OR j.revision IS NOT NULL)
       AND NOT EXISTS (SELECT FROM job_receipts r JOIN nodes n ON n.id = r.node_id AND n.enabled
         WHERE r.job_id = j.id AND r.state = 'pending')`,
  );
}
