// Fetches the lists of sites' sources at their intervals. Runs in every process. A process takes due sources for ten
// minutes, so those of a killed process are fetched after that time.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { fetchList } from '../list-sources/fetch.ts';
import { storeFetched, type DueSource } from '../list-sources/store.ts';
import { repeat } from '../node-link/repeat.ts';

/** Also how many lists a process holds in memory. */
const BATCH = 4;
const CHECK_INTERVAL_MS = 5000;
const TAKE = `UPDATE list_source_states t SET due_at = now() + interval '10 minutes'
  FROM (SELECT d.source_id, s.site_id, s.url FROM list_source_states d JOIN list_sources s ON s.id = d.source_id
    WHERE d.due_at <= now() AND s.enabled ORDER BY d.due_at LIMIT ${BATCH} FOR NO KEY UPDATE OF d SKIP LOCKED) due
  WHERE t.source_id = due.source_id
  RETURNING t.source_id AS id, due.site_id AS "siteId", due.url, t.etag`;
/** A random offset spreads sources that were added together. */
const PLAN = `UPDATE list_source_states t
  SET due_at = now() + s.interval_minutes * interval '1 minute' * (1 + random() / 20)
  FROM list_sources s WHERE s.id = t.source_id AND t.source_id = $1 AND s.url = $2`;

/** Returns the number of due sources. */
export async function fetchDueListSources({ pool, env }: Pick<Installation, 'pool' | 'env'>): Promise<number> {
  const { rows } = await pool.query<DueSource>(TAKE);
  await Promise.all(
    rows.map(async (source) => {
      await storeFetched(pool, source, await fetchList(env, source.url, source.etag));
      await pool.query(PLAN, [source.id, source.url]);
    }),
  );
  return rows.length;
}

export function startListSources(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  let isStopping = false;
  const fetchAll = async () => {
    while (!isStopping && (await fetchDueListSources(installation)) === BATCH);
  };
  const fetches = repeat(fetchAll, CHECK_INTERVAL_MS, log, 'subscribed lists not fetched');
  return {
    stop() {
      isStopping = true;
      return fetches.stop();
    },
  };
}
