import {
  AttentionKind,
  SiteAttention,
  type Attention,
  type AttentionItem,
} from '@edgeloom/contract/attention/attention.ts';
import { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import type { Ctx } from '../../core/ctx.ts';
import { sql, type Sql } from '../../core/sql.ts';
import type { Prisma } from '../../generated/client.ts';
import { readHealth, type NodeHealth } from '../nodes/node-severity.ts';
import {
  hasFailedJob,
  isFailingMonitors,
  isLosingLogs,
  isMonitorOffline,
  isRolloutStopped,
  rowsOf,
} from './conditions.ts';
import { ofInstallationLicense } from './installation-license.ts';
import { ofLicenses } from './licenses.ts';
import { permissionOf } from './permissions.ts';

const NAMES = 3;
/** Kinds of modules of sites that are listed one by one. One item counts the rest, or lists a single sixth one. */
const MAX_MODULE_ITEMS = 5;

export async function list(ctx: Ctx): Promise<Attention> {
  const { kind, permissions } = ctx.actor;
  const isOperator = kind === 'client';
  const items = await Promise.all([
    kind === 'admin' ? [] : ofSites(ctx),
    isOperator && permissions.has('node:read') ? ofNodes(ctx) : [],
    isOperator && permissions.has('monitor:read') ? ofMonitors(ctx) : [],
    isOperator && permissions.has('upgrade:read') ? ofRollouts(ctx) : [],
    kind === 'admin' && permissions.has('license:read') ? ofLicenses(ctx) : [],
    kind === 'admin' && permissions.has('license:read') ? ofInstallationLicense(ctx) : [],
  ]);
  const ranks = AttentionKind.options;
  return { data: items.flat().toSorted((a, b) => ranks.indexOf(a.kind) - ranks.indexOf(b.kind)) };
}

interface Row {
  kind: SiteAttention;
  count: number;
  siteCount: number;
  names: string[];
  siteId: string;
  siteName: string;
  moduleKind: string | null;
}

/** One statement for all kinds. */
async function ofSites({ db, actor, now }: Ctx): Promise<AttentionItem[]> {
  const kinds = SiteAttention.options.filter((kind) => actor.permissions.has(permissionOf[kind]));
  const [first, ...others] = kinds;
  if (first === undefined) return [];
  const rows = await db.$read<Row>(({ site }) => {
    const counted = (kind: SiteAttention): Sql => {
      const { table, name, condition } = rowsOf(kind, now());
      if (kind === 'modulesUnused') return countModules(sql`${site} AND ${condition}`);
      const from = kind === 'sitesUnpublished' ? sql`sites s` : sql`${table} x JOIN sites s ON s.id = x.site_id`;
      return sql`SELECT ${kind}::text AS kind, count(*)::int AS count, count(DISTINCT s.id)::int AS "siteCount",
        (array_agg(${name} ORDER BY ${name}))[1:${NAMES}::int] AS names, min(s.id::text) AS "siteId", min(s.name) AS "siteName",
        NULL AS "moduleKind" FROM ${from} WHERE ${site} AND ${condition} HAVING count(*) > 0`;
    };
    let all = counted(first);
    for (const kind of others) all = sql`${all} UNION ALL ${counted(kind)}`;
    return sql`SELECT * FROM (${all}) r ORDER BY "moduleKind" IS NULL, "siteName", "siteId", "moduleKind"`;
  });
  return rows.map(({ kind, count, siteCount, names, siteId, siteName, moduleKind }) => ({
    ...none,
    kind,
    count,
    siteCount,
    names,
    site: siteCount === 1 ? { id: siteId, name: siteName } : null,
    moduleKind: ModuleKind.nullable().parse(moduleKind),
  }));
}

/**
 * Modules `x` of sites `s`, one row for each site and kind, by the site's name. The last row counts the rest, without a
 * kind unless only one is left.
 */
const countModules = (condition: Sql): Sql =>
  sql`SELECT 'modulesUnused' AS kind, count(*)::int AS count, count(DISTINCT site_id)::int AS "siteCount",
    (array_agg(name ORDER BY name))[1:${NAMES}::int] AS names, min(site_id::text) AS "siteId", min(site_name) AS "siteName",
    CASE WHEN count(DISTINCT (site_id, kind)) = 1 THEN min(kind) END AS "moduleKind"
    FROM (SELECT x.name, x.kind, s.id AS site_id, s.name AS site_name,
        least(dense_rank() OVER (ORDER BY s.name, s.id, x.kind), ${MAX_MODULE_ITEMS + 1}::int) AS place
      FROM modules x JOIN sites s ON s.id = x.site_id WHERE ${condition}) m GROUP BY place`;

async function ofNodes(ctx: Ctx): Promise<AttentionItem[]> {
  const orderBy = { name: 'asc' } as const;
  const namesOf = async (where: Prisma.EdgeNodeWhereInput) =>
    (await ctx.db.edgeNode.findMany({ where, select: { name: true }, orderBy })).map(({ name }) => name);
  const [found, failed, losing, failing] = await Promise.all([
    readHealth(ctx, { orderBy }),
    namesOf(hasFailedJob(true, ctx.now())),
    namesOf(isLosingLogs(true, ctx.now())),
    namesOf(isFailingMonitors(true)),
  ]);
  const having = (kind: AttentionKind, isIt: (node: NodeHealth) => boolean) =>
    itemOf(
      kind,
      found.filter(isIt).map(({ name }) => name),
    );
  return [
    ...having('nodesRejected', ({ status }) => status === 'rejected'),
    ...having('nodesOffline', ({ status }) => status === 'offline'),
    ...having('nodesDisconnected', ({ status }) => status === 'natsError'),
    ...having('nodesBehind', ({ isBehind }) => isBehind),
    ...itemOf('nodeJobsFailed', failed),
    ...itemOf('nodesLosingLogs', losing),
    ...itemOf('nodesFailingMonitors', failing),
  ];
}

async function ofMonitors({ db, now }: Ctx): Promise<AttentionItem[]> {
  const where = isMonitorOffline(true, now());
  const rows = await db.monitorNode.findMany({ where, select: { name: true }, orderBy: { name: 'asc' } });
  return itemOf(
    'monitorsOffline',
    rows.map(({ name }) => name),
  );
}

async function ofRollouts({ db, now }: Ctx): Promise<AttentionItem[]> {
  const where = isRolloutStopped(now());
  const rows = await db.rollout.findMany({ where, select: { title: true }, orderBy: { title: 'asc' } });
  return itemOf(
    'rolloutsStopped',
    rows.map(({ title }) => title),
  );
}

const none = { names: [], site: null, siteCount: 0, moduleKind: null, accountID: null, endsAt: null, limit: null };

/** Empty if the count is zero. */
const itemOf = (kind: AttentionKind, names: readonly string[]): AttentionItem[] =>
  names.length === 0 ? [] : [{ ...none, kind, count: names.length, names: names.slice(0, NAMES) }];
