// Fetches the subscribed lists of sites and zones at their intervals. Runs in every process. A process leases due
// sources for ten minutes. If it is killed, another one fetches them after the lease.
import { ListSourceKind } from '@edgeloom/contract/list-sources/list-sources.ts';
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { contexts, type Secrets } from '../core/secrets.ts';
import { servedStatus } from '../core/served-status.ts';
import { fetchList } from '../list-sources/fetch.ts';
import { storeFetched, type DueSource } from '../list-sources/store.ts';
import { repeat } from '../node-link/repeat.ts';

/** Bounds the lists that a process has in memory at a time: up to 10 MB each, and 50 MB of CrowdSec. */
const MAX_CONCURRENT: Readonly<Record<ListSourceKind, number>> = { url: 4, crowdSec: 1 };
const CHECK_INTERVAL_MS = 5000;
/** The second source of a customer comes after the first ones of all others. */
const LEASE_DUE = `UPDATE list_source_states t SET due_at = now() + interval '10 minutes', started_at = now()
  FROM (SELECT d.source_id, o.site_id, o.zone_id, o.kind, o.url, o.key_sealed FROM list_source_states d JOIN (
      SELECT l.id, l.site_id, l.zone_id, l.kind, l.url, k.key_sealed,
        row_number() OVER (PARTITION BY coalesce(s.owner_id, s.client_id, z.client_id) ORDER BY w.due_at, l.id) AS nth
      FROM list_source_states w JOIN list_sources l ON l.id = w.source_id
        LEFT JOIN sites s ON s.id = l.site_id LEFT JOIN zones z ON z.id = l.zone_id
        LEFT JOIN list_source_keys k ON k.source_id = l.id AND k.url = l.url
      WHERE w.due_at <= now() AND l.kind = $1 AND l.enabled
        AND (l.site_id IS NULL OR ${servedStatus} NOT IN ('lock', 'expired'))) o ON o.id = d.source_id
    WHERE d.due_at <= now() ORDER BY o.nth, d.due_at LIMIT $2 FOR NO KEY UPDATE OF d SKIP LOCKED) due
  WHERE t.source_id = due.source_id
  RETURNING t.source_id AS id, due.site_id AS "siteId", due.zone_id AS "zoneId", due.kind, due.url, t.etag,
    due.key_sealed AS "keySealed", t.due_at::text AS "leasedUntil"`;
/**
 * From the second failure on, the interval doubles up to a day. A random offset spreads sources that were added
 * together. A refresh during the fetch replaces the lease, and stays in force.
 */
const RESCHEDULE = `UPDATE list_source_states t
  SET due_at = now() + interval '1 minute' * (1 + random() / 20)
    * least(s.interval_minutes * power(2, least(greatest(t.failures - 1, 0), 10)), 1440)
  FROM list_sources s WHERE s.id = t.source_id AND t.source_id = $1 AND t.due_at = $2::timestamptz`;

interface LeasedSource extends DueSource {
  keySealed: string | null;
  leasedUntil: string;
}
/** Null: there is none for this URL, or the master key that sealed it is lost. */
function keyOf(secrets: Secrets, { id, keySealed }: LeasedSource): string | null {
  try {
    return keySealed === null ? null : secrets.open(keySealed, contexts.listSource(id));
  } catch {
    return null;
  }
}

type Services = Pick<Installation, 'pool' | 'env' | 'secrets'>;

/** Fetches due sources, up to MAX_CONCURRENT of each kind. True: more may be due. */
export async function fetchDueListSources(services: Services): Promise<boolean> {
  const areMoreDue = await Promise.all(ListSourceKind.options.map((kind) => fetchDue(services, kind)));
  return areMoreDue.includes(true);
}

async function fetchDue({ pool, env, secrets }: Services, kind: ListSourceKind): Promise<boolean> {
  const { rows } = await pool.query<LeasedSource>(LEASE_DUE, [kind, MAX_CONCURRENT[kind]]);
  await Promise.all(
    rows.map(async (source) => {
      await storeFetched(pool, source, await fetchList(env, { ...source, key: keyOf(secrets, source) }));
      await pool.query(RESCHEDULE, [source.id, source.leasedUntil]);
    }),
  );
  return rows.length === MAX_CONCURRENT[kind];
}

export function startListSources(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  let isStopping = false;
  const fetchAll = async () => {
    while (!isStopping && (await fetchDueListSources(installation)));
  };
  const fetches = repeat(fetchAll, CHECK_INTERVAL_MS, log, 'subscribed lists not fetched');
  return {
    stop() {
      isStopping = true;
      return fetches.stop();
    },
  };
}
