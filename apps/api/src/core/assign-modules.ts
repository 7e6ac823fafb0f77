// Which domains of a site have a module, in four statements however many there are: a site may have a hundred thousand,
// whose rows would take a minute to travel here and back. They are plain SQL and carry no scope: whoever calls has found
// the site, the module and the domains through it, and the site is in each statement.
import type { Installation } from './installation.ts';

interface Assignment {
  siteId: string;
  zoneId: string;
  kind: string;
  /** Null: none any more. */
  moduleId: string | null;
  /** Null: all of the site. */
  domainIds: string[] | null;
}

/** Answers how many domains it was done for. */
export const assignModule = (
  { db }: Pick<Installation, 'db'>,
  { siteId, zoneId, kind, moduleId, domainIds: ids }: Assignment,
): Promise<number> =>
  db.$transaction(
    async (tx) => {
      // Locked: of two who assign at once the later one's choice stands.
      await tx.$executeRaw`UPDATE sites SET updated_at = now() WHERE id = ${siteId}::uuid`;
      await tx.$executeRaw`DELETE FROM domain_modules a USING domains d
        WHERE d.id = a.domain_id AND a.kind = ${kind} AND d.site_id = ${siteId}::uuid
          AND (${ids}::uuid[] IS NULL OR d.id = ANY (${ids}::uuid[]))`;
      await tx.$executeRaw`INSERT INTO domain_modules (domain_id, kind, module_id)
        SELECT d.id, m.kind, m.id FROM domains d JOIN modules m ON m.site_id = d.site_id AND m.kind = ${kind}
        WHERE m.id = ${moduleId}::uuid AND d.site_id = ${siteId}::uuid
          AND (${ids}::uuid[] IS NULL OR d.id = ANY (${ids}::uuid[]))`;
      await tx.$executeRaw`INSERT INTO outbox (zone_id, key)
        SELECT ${zoneId}::uuid, 'host/' || d.enabled_name FROM domains d
        WHERE d.site_id = ${siteId}::uuid AND d.enabled_name IS NOT NULL
          AND (${ids}::uuid[] IS NULL OR d.id = ANY (${ids}::uuid[]))`;
      return ids?.length ?? (await tx.domain.count({ where: { siteId } }));
    },
    { timeout: 60_000, maxWait: 10_000 },
  );
