// Assigns a module to domains in three statements, however many domains: rows of a hundred thousand domains would take
// a minute to transfer. Plain SQL without a scope: the caller has found site, module and domains through the scope, and
// each statement contains the site.
import { rawOf, type RawTx } from './document-weight.ts';
import type { Installation } from './installation.ts';

interface Assignment {
  siteId: string;
  zoneId: string;
  kind: string;
  /** Null: remove the assignment. */
  moduleId: string | null;
  domains: 'all' | 'unassigned' | string[];
}

/** Returns the number of domains. */
export const assignModule = ({ db }: Pick<Installation, 'db'>, assignment: Assignment): Promise<number> =>
  db.$transaction(
    async (tx) => {
      // Locks the site, so that of concurrent assignments the later one wins.
      await tx.$executeRaw`UPDATE sites SET updated_at = now() WHERE id = ${assignment.siteId}::uuid`;
      await run(tx, assignment);
      const { domains, siteId } = assignment;
      return Array.isArray(domains) ? domains.length : tx.domain.count({ where: { siteId } });
    },
    { timeout: 60_000, maxWait: 10_000 },
  );

/** Within a transaction that has locked the site. */
export const assignInTransaction = (scoped: object, assignment: Assignment) => run(rawOf(scoped), assignment);

async function run(tx: RawTx, { siteId, zoneId, kind, moduleId, domains }: Assignment): Promise<void> {
  const ids = Array.isArray(domains) ? domains : null;
  const onlyWithout = domains === 'unassigned';
  await tx.$executeRaw`INSERT INTO outbox (zone_id, key)
    SELECT ${zoneId}::uuid, 'host/' || d.enabled_name FROM domains d
    WHERE d.site_id = ${siteId}::uuid AND d.enabled_name IS NOT NULL
      AND (${ids}::uuid[] IS NULL OR d.id = ANY (${ids}::uuid[]))
      AND NOT (${onlyWithout} AND EXISTS (SELECT 1 FROM domain_modules a WHERE a.domain_id = d.id AND a.kind = ${kind}))`;
  if (!onlyWithout)
    await tx.$executeRaw`DELETE FROM domain_modules a USING domains d
      WHERE d.id = a.domain_id AND a.kind = ${kind} AND d.site_id = ${siteId}::uuid
        AND (${ids}::uuid[] IS NULL OR d.id = ANY (${ids}::uuid[]))`;
  await tx.$executeRaw`INSERT INTO domain_modules (domain_id, kind, module_id)
    SELECT d.id, m.kind, m.id FROM domains d JOIN modules m ON m.site_id = d.site_id AND m.kind = ${kind}
    WHERE m.id = ${moduleId}::uuid AND d.site_id = ${siteId}::uuid
      AND (${ids}::uuid[] IS NULL OR d.id = ANY (${ids}::uuid[]))
      AND NOT (${onlyWithout} AND EXISTS (SELECT 1 FROM domain_modules a WHERE a.domain_id = d.id AND a.kind = ${kind}))`;
}
