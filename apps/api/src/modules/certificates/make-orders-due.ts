import { NAMES_RECHECK_MS } from '../../acme/pending-names.ts';
import { MAX_FIRST_RETRY_MS } from '../../acme/renewal-schedule.ts';
import type { Installation } from '../../core/installation.ts';

interface SiteName {
  siteId: string;
  name: string;
}

/** Clocks of this process and of the database differ. */
const SLACK_SECONDS = 60;

/**
 * For names that were just found to point here: makes orders due at once that would look again within NAMES_RECHECK_MS,
 * and certificates that failed once. Longer waits stay: of repeated failures, and those over an hour on an authority's
 * request. Otherwise a customer's own name server, which turns a name between right and wrong, could make orders
 * without end.
 */
export async function makeOrdersDue({ pool }: Pick<Installation, 'pool'>, names: readonly SiteName[]): Promise<void> {
  if (names.length === 0) return;
  const values = [names.map(({ siteId }) => siteId), names.map(({ name }) => name)];
  await pool.query(
    `WITH affected AS (
       SELECT DISTINCT c.id FROM certificates c, unnest($1::uuid[], $2::text[]) pointing (site_id, name)
       WHERE c.site_id = pointing.site_id AND c.type = 'automatic' AND pointing.name = ANY(c.names)),
     retried AS (UPDATE certificates c SET next_at = now() FROM affected
       WHERE c.id = affected.id AND c.status = 'fail' AND c.failures <= 1 AND c.next_at > now()
         AND c.next_at <= now() + interval '${MAX_FIRST_RETRY_MS / 1000 + SLACK_SECONDS} seconds'),
     resumed AS (UPDATE certificate_orders o SET due_at = now() FROM affected
       WHERE o.certificate_id = affected.id AND o.state = 'open' AND o.placed_at IS NULL AND o.due_at > now()
         AND o.due_at <= now() + interval '${NAMES_RECHECK_MS / 1000 + SLACK_SECONDS} seconds')
     SELECT pg_notify('certificate_orders', '')`,
    values,
  );
}
