import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { AssignInput, ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import * as sites from '../sites/sites.service.ts';
import { countAssignments, readAssignments, type AssignmentFilter } from './domain-modules.queries.ts';

export interface OfKind {
  siteId: string;
  kind: ModuleKind;
}

export async function list(
  ctx: Ctx,
  { siteId, kind }: OfKind,
  { moduleID, domainID, ...paging }: Paging<'domainName' | 'moduleName'> & AssignmentFilter,
) {
  const filter = { moduleID, domainID };
  const [data, total] = await Promise.all([
    readAssignments(ctx, siteId, kind, paging, filter),
    countAssignments(ctx, siteId, kind, filter),
  ]);
  return { data, total: total ?? fail('NOT_FOUND') };
}

/**
 * Four statements, however many domains there are: a site may have a hundred thousand, whose rows would take a minute to
 * travel here and back. They are plain SQL and carry no scope; what they name was found through it, and the site is in each.
 */
export async function assign(ctx: Ctx, { siteId, kind }: OfKind, { domainIDs, ...given }: AssignInput) {
  const { zoneId } = await sites.own(ctx.db, siteId);
  const moduleId = 'corsID' in given ? given.corsID : given.moduleID;
  if (moduleId !== null && (await ctx.db.module.count({ where: { id: moduleId, siteId, kind } })) === 0)
    fail('NOT_FOUND');
  const ids = domainIDs ? [...new Set(domainIDs)] : null;
  if (ids && (await ctx.db.domain.count({ where: { siteId, id: { in: ids } } })) !== ids.length) fail('NOT_FOUND');
  return ctx.installation.db.$transaction(
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
      return { domains: ids?.length ?? (await tx.domain.count({ where: { siteId } })) };
    },
    { timeout: 60_000, maxWait: 10_000 },
  );
}
