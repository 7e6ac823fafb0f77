import type { Paging } from '@edgeloom/contract/common/common.ts';
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import type { AssignInput, ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { changed } from '../../core/changes.ts';
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

/** A handful of statements, however many domains there are. */
export const assign = ({ db }: Ctx, { siteId, kind }: OfKind, { domainIDs, ...given }: AssignInput) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.lock(tx, siteId);
    const moduleId = 'corsID' in given ? given.corsID : given.moduleID;
    if (moduleId !== null && (await tx.module.count({ where: { id: moduleId, siteId, kind } })) === 0)
      fail('NOT_FOUND');
    const among = { siteId, ...(domainIDs && { id: { in: domainIDs } }) };
    const domains = await tx.domain.findMany({ where: among, select: { id: true, name: true, enabled: true } });
    if (domainIDs && domains.length !== new Set(domainIDs).size) fail('NOT_FOUND');
    await tx.domainModule.deleteMany({ where: { kind, domain: among } });
    if (moduleId !== null)
      await tx.domainModule.createMany({ data: domains.map(({ id }) => ({ domainId: id, kind, moduleId })) });
    await changed(tx, zoneId, ...domains.filter(({ enabled }) => enabled).map(({ name }) => hostKey(name)));
    return { domains: domains.length };
  });
