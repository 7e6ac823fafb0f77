// Queries for sites: a page, one site, and counts.
import type { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import type { NameSearch, Paging } from '@edgeloom/contract/common/common.ts';
import type {
  ModulesInUse,
  PublishError,
  SettingsInUse,
  Site,
  SiteContents,
  SiteInfo,
} from '@edgeloom/contract/sites/sites.ts';
import type * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, contains, pageSql, sql, tagsPage, type Sql } from '../../core/sql.ts';
import { siteRules } from '../../site-rules.ts';
import { needsAttention, publishError } from '../attention/conditions.ts';

export interface SiteFilter {
  name?: string | undefined;
  productID?: string | undefined;
  zoneID?: string | undefined;
  groupID?: string | undefined;
  userID?: string | undefined;
  status?: Site['status'][] | undefined;
  tags?: string[] | undefined;
  assignedTo?: string | undefined;
  notAssignedTo?: string | undefined;
  attention?: SiteAttention[] | undefined;
}
export type SitePaging = Paging<'createdAt' | 'name' | 'updatedAt' | 'status'> & { groupBy?: 'product' | undefined };
export type SiteRow = Site & { cacheVersion: number };

const columns = sql`${publishError} AS "publishError", s.id, s.name, s.status, s.tags, s.product_id AS "productID", p.name AS "productName", s.zone_id AS "zoneID",
  z.name AS "zoneName", s.backup_group_id AS "backupGroupID", s.forced_at AS "forcedAt", s.owner_id AS "userID", o.name AS "userName", o.status AS "userStatus", coalesce(s.domain_limit, p.domain_limit) AS "domainLimit", coalesce(s.port_limit, p.port_limit) AS "portLimit",
  json_build_object('domainLimit', s.domain_limit, 'portLimit', s.port_limit, 'autoCertificateLimit', s.auto_certificate_limit,
    'maxConnections', s.max_connections, 'responseMbps', s.response_mbps) AS "ownLimits", s.expires_at AS expiry,
  s.created_at AS "createdAt", s.updated_at AS "updatedAt", s.cache_version AS "cacheVersion",
  (SELECT count(*)::int FROM domains d WHERE d.site_id = s.id) AS "domainCount",
  (SELECT count(*)::int FROM port_rules r WHERE r.site_id = s.id) AS "portCount"`;
const tables = sql`sites s JOIN products p ON p.id = s.product_id JOIN zones z ON z.id = s.zone_id LEFT JOIN accounts o ON o.id = s.owner_id`;
const sorted = { createdAt: sql`s.created_at`, name: sql`s.name`, updatedAt: sql`s.updated_at`, status: sql`s.status` };

/** The order of groups. */
const byProduct = sql`p.name, p.id`;

export const readSites = (
  { db, now }: Ctx,
  { groupBy, ...paging }: SitePaging,
  filter: SiteFilter,
): Promise<SiteRow[]> =>
  db.$read(
    ({ site }) =>
      sql`SELECT ${columns} FROM ${tables} WHERE ${site}${where(filter, now())} ${pageSql(
        paging,
        sorted,
        sql`s.id`,
        groupBy && byProduct,
      )}`,
  );

/** The number of matching sites of each product, in the order of the groups. */
export const countByProduct = ({ db, now }: Ctx, filter: SiteFilter): Promise<{ id: string; count: number }[]> =>
  db.$read(
    ({ site }) => sql`SELECT p.id, count(*)::int AS count FROM sites s JOIN products p ON p.id = s.product_id
      WHERE ${site}${where(filter, now())} GROUP BY p.id ORDER BY ${byProduct}`,
  );

export async function countSites({ db, now }: Ctx, filter: SiteFilter): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT count(*)::int AS total FROM sites s WHERE ${site}${where(filter, now())}`,
  );
  return row?.total ?? 0;
}

export async function readPublishError({ db }: Ctx, id: string): Promise<PublishError | null> {
  const [row] = await db.$read<{ error: PublishError | null }>(
    ({ site }) => sql`SELECT ${publishError} AS error FROM sites s WHERE s.id = ${id} AND ${site}`,
  );
  return row?.error ?? null;
}

interface SitePage extends SiteRow {
  ports: { port: number; tls: boolean }[];
  cnameLabel: string;
  enabledDomainCount: number;
  cacheRuleCount: number;
  autoCertificateCount: number;
  autoCertificateLimit: number;
  maxConnections: number;
  responseMbps: number;
  domainLock: boolean;
  autoSSL: boolean;
  minTLS: SiteInfo['minTLS'];
}

/** A site with everything its page shows. */
export async function readSite({ db }: Ctx, id: string): Promise<SitePage | null> {
  const [row] = await db.$read<SitePage>(
    ({ site }) => sql`SELECT ${columns}, s.cname_label AS "cnameLabel",
        (SELECT count(*)::int FROM domains d WHERE d.site_id = s.id AND d.enabled) AS "enabledDomainCount",
        (SELECT count(*)::int FROM cache_rules r WHERE r.site_id = s.id) AS "cacheRuleCount",
        (SELECT count(*)::int FROM certificates c WHERE c.site_id = s.id AND c.type = 'automatic') AS "autoCertificateCount",
        coalesce(s.auto_certificate_limit, p.auto_certificate_limit) AS "autoCertificateLimit",
        coalesce(s.max_connections, p.max_connections) AS "maxConnections",
        coalesce(s.response_mbps, p.response_mbps) AS "responseMbps",
        p.domain_lock AS "domainLock", p.auto_ssl AS "autoSSL", p.min_tls AS "minTLS",
        coalesce((SELECT json_agg(json_build_object('port', q.port, 'tls', q.tls) ORDER BY q.port) FROM zone_ports q
          WHERE q.zone_id = s.zone_id AND (q.port IN (80, 443)
            OR EXISTS (SELECT 1 FROM site_ports o WHERE o.site_id = s.id AND o.zone_port_id = q.id))), '[]') AS ports
      FROM ${tables} WHERE s.id = ${id} AND ${site}`,
  );
  return row ?? null;
}

/** The tags of the caller's sites. */
export const readSiteTags = ({ db }: Ctx, search: NameSearch) =>
  tagsPage(db.$read, search, ({ site }) => sql`sites s, unnest(s.tags) t (tag) WHERE ${site}`);

const isAssigned = (accountId: string) =>
  sql`EXISTS (SELECT 1 FROM site_assignments x WHERE x.site_id = s.id AND x.account_id = ${accountId})`;
const where = (
  { name, productID, zoneID, groupID, userID, status, tags, assignedTo, notAssignedTo, attention }: SiteFilter,
  now: Date,
): Sql =>
  andAll([
    name && contains(sql`s.name`, name),
    productID && sql`s.product_id = ${productID}`,
    zoneID && sql`s.zone_id = ${zoneID}`,
    groupID && sql`s.group_id = ${groupID}`,
    userID && sql`s.owner_id = ${userID}`,
    status && sql`s.status = ANY(${status}::site_status[])`,
    tags && sql`s.tags && ${tags}::text[]`,
    assignedTo && isAssigned(assignedTo),
    notAssignedTo && sql`NOT ${isAssigned(notAssignedTo)}`,
    attention && needsAttention(attention, now),
  ]);

export async function readSettingsInUse({ db }: Ctx, id: string): Promise<SettingsInUse | null> {
  let rules = sql`'{}'::jsonb`;
  for (const { name, rows } of siteRules) rules = sql`${rules} || jsonb_build_object(${name}::text, EXISTS (${rows}))`;
  type InUse = Pick<SettingsInUse, 'compression' | 'ports'> & { rules: Omit<SettingsInUse, 'compression' | 'ports'> };
  const [row] = await db.$read<InUse>(
    ({ site }) => sql`SELECT ${rules} AS rules,
        EXISTS (SELECT FROM compressions c WHERE c.site_id = s.id AND (c.gzip OR c.brotli OR c.webp)) AS compression,
        EXISTS (SELECT FROM site_ports o WHERE o.site_id = s.id) AS ports
      FROM sites s WHERE ${site} AND s.id = ${id}`,
  );
  return row ? { ...row.rules, compression: row.compression, ports: row.ports } : null;
}

export async function readModulesInUse({ db }: Ctx, id: string): Promise<ModulesInUse | null> {
  const [row] = await db.$read<ModulesInUse>(
    ({
      site,
    }) => sql`SELECT ARRAY(SELECT DISTINCT m.kind FROM domain_modules m WHERE m.site_id = s.id ORDER BY 1) AS kinds
      FROM sites s WHERE ${site} AND s.id = ${id}`,
  );
  return row ?? null;
}

/** Table names are those of the features. */
const trusted = (text: string): Sql => ({ texts: [text], values: [], isScoped: false });

export function readContents({ db }: Ctx, siteIDs: string[]) {
  const countOf = (table: string) => sql`(SELECT count(*)::int FROM ${trusted(table)} x WHERE x.site_id = s.id)`;
  let rules = sql`0`;
  for (const table of new Set(siteRules.map((feature) => feature.table))) rules = sql`${rules} + ${countOf(table)}`;
  return db.$read<z.output<typeof SiteContents>>(
    ({ site }) => sql`SELECT s.id, s.name, ${countOf('domains')} AS domains, ${countOf('port_rules')} AS forwards,
        ${countOf('certificates')} AS certificates, ${countOf('modules')} AS modules, ${rules} AS rules
      FROM sites s WHERE ${site} AND s.id = ANY(${siteIDs}::uuid[]) ORDER BY s.name, s.id`,
  );
}
