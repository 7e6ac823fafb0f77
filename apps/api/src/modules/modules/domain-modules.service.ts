import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { AssignInput, ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { assignModule } from '../../core/assign-modules.ts';
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

export async function assign(ctx: Ctx, { siteId, kind }: OfKind, { domainIDs, ...given }: AssignInput) {
  const { zoneId } = await sites.own(ctx.db, siteId);
  const moduleId = 'corsID' in given ? given.corsID : given.moduleID;
  if (moduleId !== null && (await ctx.db.module.count({ where: { id: moduleId, siteId, kind } })) === 0)
    fail('NOT_FOUND');
  const domainIds = domainIDs ? [...new Set(domainIDs)] : null;
  if (domainIds && (await ctx.db.domain.count({ where: { siteId, id: { in: domainIds } } })) !== domainIds.length)
    fail('NOT_FOUND');
  return { domains: await assignModule(ctx.installation, { siteId, zoneId, kind, moduleId, domainIds }) };
}
