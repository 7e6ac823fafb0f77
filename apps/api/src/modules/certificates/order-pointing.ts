import type { Installation } from '../../core/installation.ts';

interface SiteName {
  siteId: string;
  name: string;
}

/** Makes the orders for names that point here from now on due at once: those that wait, and those that failed. */
export async function orderPointing({ pool }: Pick<Installation, 'pool'>, names: readonly SiteName[]): Promise<void> {
  if (names.length === 0) return;
  const values = [names.map(({ siteId }) => siteId), names.map(({ name }) => name)];
  await pool.query(
    `WITH certificates_of AS (
       SELECT DISTINCT c.id FROM certificates c, unnest($1::uuid[], $2::text[]) pointing (site_id, name)
       WHERE c.site_id = pointing.site_id AND c.type = 'automatic' AND pointing.name = ANY(c.names)),
     failed AS (UPDATE certificates c SET next_at = now() FROM certificates_of
       WHERE c.id = certificates_of.id AND c.status = 'fail' AND c.next_at > now()),
     waiting AS (UPDATE certificate_orders o SET due_at = now() FROM certificates_of
       WHERE o.certificate_id = certificates_of.id AND o.state = 'open' AND o.placed_at IS NULL AND o.due_at > now())
     SELECT pg_notify('certificate_orders', '')`,
    values,
  );
}
