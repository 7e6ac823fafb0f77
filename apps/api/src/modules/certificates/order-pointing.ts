import { NAMES_AGAIN_MS } from '../../acme/pending-names.ts';
import type { Installation } from '../../core/installation.ts';

interface SiteName {
  siteId: string;
  name: string;
}

/** The first retry of a failed certificate comes within this time (acme/renewal-schedule.ts). */
const FIRST_RETRY_MINUTES = 66;

/**
 * Makes the orders for names that point here from now on due at once: those that wait for names, and those that failed
 * once. Longer waits stay: of repeated failures, and those that an authority asked for. Otherwise a customer's own name
 * server, which turns a name between right and wrong, could make orders without end.
 */
export async function orderPointing({ pool }: Pick<Installation, 'pool'>, names: readonly SiteName[]): Promise<void> {
  if (names.length === 0) return;
  const values = [names.map(({ siteId }) => siteId), names.map(({ name }) => name)];
  await pool.query(
    `WITH certificates_of AS (
       SELECT DISTINCT c.id FROM certificates c, unnest($1::uuid[], $2::text[]) pointing (site_id, name)
       WHERE c.site_id = pointing.site_id AND c.type = 'automatic' AND pointing.name = ANY(c.names)),
     failed AS (UPDATE certificates c SET next_at = now() FROM certificates_of
       WHERE c.id = certificates_of.id AND c.status = 'fail' AND c.next_at > now()
         AND c.next_at <= now() + interval '${FIRST_RETRY_MINUTES} minutes'),
     waiting AS (UPDATE certificate_orders o SET due_at = now() FROM certificates_of
       WHERE o.certificate_id = certificates_of.id AND o.state = 'open' AND o.placed_at IS NULL AND o.due_at > now()
         AND o.due_at <= now() + interval '${NAMES_AGAIN_MS / 1000} seconds')
     SELECT pg_notify('certificate_orders', '')`,
    values,
  );
}
