// Which domains have which module: a page and its total.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Assignment, ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, pageSql, sql, type Sql } from '../../core/sql.ts';

const sorted = { domainName: sql`d.name`, moduleName: sql`m.name` };

export interface AssignmentFilter {
  moduleID?: string | undefined;
  domainID?: string | undefined;
}

/** Only assigned ones. */
export const readAssignments = (
  { db }: Ctx,
  siteId: string,
  kind: ModuleKind,
  paging: Paging<keyof typeof sorted>,
  filter: AssignmentFilter,
): Promise<Assignment[]> =>
  db.$read(
    ({ site }) => sql`SELECT d.id AS "domainID", d.name AS "domainName", m.id AS "moduleID", m.name AS "moduleName"
      FROM domain_modules a JOIN modules m ON m.id = a.module_id JOIN domains d ON d.id = a.domain_id
        JOIN sites s ON s.id = m.site_id
      WHERE ${where(siteId, kind, filter)} AND ${site} ${pageSql(paging, sorted, sql`d.id`)}`,
  );

/** Null if there is no such site. */
export async function countAssignments({ db }: Ctx, siteId: string, kind: ModuleKind, filter: AssignmentFilter) {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT (SELECT count(*)::int FROM domain_modules a JOIN modules m ON m.id = a.module_id
        JOIN domains d ON d.id = a.domain_id WHERE ${where(siteId, kind, filter)}) AS total
      FROM sites s WHERE s.id = ${siteId} AND ${site}`,
  );
  return row?.total ?? null;
}

const where = (siteId: string, kind: ModuleKind, { moduleID, domainID }: AssignmentFilter): Sql =>
  sql`m.site_id = ${siteId} AND m.kind = ${kind}${andAll([
    moduleID !== undefined && sql`m.id = ${moduleID}`,
    domainID !== undefined && sql`d.id = ${domainID}`,
  ])}`;
