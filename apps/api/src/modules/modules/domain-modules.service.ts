import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { AppliesTo, AssignInput, ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { assignModule } from '../../core/assign-modules.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
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

export async function assign(ctx: Ctx, { siteId, kind }: OfKind, { domainIDs, ...given }: AssignInput) {
  const { zoneId } = await sites.own(ctx.db, siteId);
  const moduleId = 'corsID' in given ? given.corsID : given.moduleID;
  if (moduleId !== null && (await ctx.db.module.count({ where: { id: moduleId, siteId, kind } })) === 0)
    fail('NOT_FOUND');
  const domains = domainIDs ? [...new Set(domainIDs)] : 'all';
  await assertOwn(ctx.db, siteId, domains);
  return { domains: await assignModule(ctx.installation, { siteId, zoneId, kind, moduleId, domains }) };
}

/** Fails unless all of these domains belong to the site. Without repeated ids. */
export async function assertOwn(db: ScopedTx, siteId: string, domains: AppliesTo) {
  if (!Array.isArray(domains)) return;
  if ((await db.domain.count({ where: { siteId, id: { in: domains } } })) !== domains.length) fail('NOT_FOUND');
}
