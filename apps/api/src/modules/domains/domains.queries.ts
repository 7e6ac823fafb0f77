// Queries for domains, the most used list of the consoles: a page with its origins in one statement.
import type { MetaQuery, NameSearch, Paging } from '@edgeloom/contract/common/common.ts';
import { asciiName } from '@edgeloom/contract/common/net.ts';
import type { Domain, OriginHealth, ProofCheck, SiteUpstream } from '@edgeloom/contract/domains/domains.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, contains, containsLower, pageSql, sql, tagsPage, type Sql } from '../../core/sql.ts';
import { isCertificateMissing } from '../attention/conditions.ts';

export interface DomainFilter {
  keywords?: string | undefined;
  tags?: string[] | undefined;
  cnameStatuses?: string[] | undefined;
  certStatus?: string[] | undefined;
  certificateID?: string | undefined;
  forceSSL?: boolean | undefined;
  certificateMissing?: boolean | undefined;
  enabled?: boolean | undefined;
  createdAtStart?: string | undefined;
  createdAtEnd?: string | undefined;
  updatedAtStart?: string | undefined;
  updatedAtEnd?: string | undefined;
}
export type DomainPaging = Paging<'createdAt' | 'name' | 'updatedAt'>;

/**
 * Only for a domain that is disabled, has no claim and needs a proof now. Few rows have a proof, so the check is cheap.
 */
const proof = sql`CASE WHEN NOT d.enabled AND NOT EXISTS (SELECT FROM name_claims c WHERE c.domain_id = d.id) THEN (
  SELECT CASE WHEN EXISTS (SELECT FROM names_needing_proof(d.site_id, ARRAY[d.name])) THEN json_build_object('record', '_edgeloom-challenge.' || p.name, 'value', t.token,
    'state', CASE WHEN p.proven_at > now() - interval '7 days' THEN 'proven' ELSE 'waiting' END, 'outcome', p.outcome, 'seen', p.seen,
    'lookedAt', iso_time(p.looked_at), 'nextLookAt', iso_time(p.due_at)) END
  FROM name_proofs p JOIN proof_tokens t ON t.holder_id = p.holder_id
  WHERE p.holder_id = coalesce(s.owner_id, s.client_id) AND p.name = name_base(d.name)) END`;
/** Only while a certificate is being issued or after a failed attempt: few domains have either. */
const certCheckAt = sql`CASE WHEN d.cert_status IN ('processing', 'fail') THEN (
  SELECT min(coalesce((SELECT min(o.due_at) FROM certificate_orders o WHERE o.certificate_id = c.id AND o.state = 'open'), c.next_at))
  FROM certificates c WHERE c.site_id = d.site_id AND c.type = 'automatic' AND d.name = ANY(c.names)) END`;
const columns = sql`d.id, d.site_id AS "siteID", d.name, d.enabled::int AS status, d.tags, d.cname_status AS "cnameStatus",
  d.cname_due_at AS "cnameCheckAt", d.cert_status AS "certStatus", ${certCheckAt} AS "certCheckAt", d.certificate_id AS "certificateID", d.force_ssl AS "forceSSL", d.min_tls AS "minTLS", d.origin_verify AS "originVerify", d.origin_certificate_id AS "originCertificateID",
  d.slow_start_seconds AS "slowStartSeconds", d.health_check AS "healthCheck",
  CASE WHEN d.hsts_max_age_seconds IS NOT NULL THEN json_build_object('maxAgeSeconds', d.hsts_max_age_seconds,
    'includeSubdomains', d.hsts_include_subdomains, 'preload', d.hsts_preload) END AS hsts, d.scheme, d.port_map AS "portMap", d.hash_type AS "hashType",
  d.host_replace AS "hostReplace", d.sni, d.max_fails AS "maxFails", d.fail_timeout_seconds AS "failTimeoutSeconds",
  d.connect_timeout_seconds AS "connectTimeoutSeconds", d.read_timeout_seconds AS "readTimeoutSeconds",
  d.websocket_timeout_seconds AS "websocketTimeoutSeconds",
  d.created_at AS "createdAt", d.updated_at AS "updatedAt", ${proof} AS proof,
  coalesce((SELECT json_agg(json_build_object('id', u.id, 'address', u.address, 'port', u.port, 'weight', u.weight,
    'backup', u.backup, 'enabled', u.enabled) ORDER BY u.id) FROM upstreams u WHERE u.domain_id = d.id), '[]') AS upstreams`;
const sorted = { createdAt: sql`d.created_at`, name: sql`d.name`, updatedAt: sql`d.updated_at` };

export const readDomains = (
  { db }: Ctx,
  siteId: string,
  paging: DomainPaging,
  filter: DomainFilter,
): Promise<Domain[]> =>
  db.$read(({ site }) => page(columns, sql`d.site_id = ${siteId} AND ${site}`, paging, where(filter)));

/** Selects the page's ids first, so that skipped rows and their origins are not read. */
const page = (what: Sql, seen: Sql, paging: DomainPaging, filter: Sql) =>
  sql`SELECT ${what} FROM (
      SELECT d.id FROM domains d JOIN sites s ON s.id = d.site_id WHERE ${seen}${filter} ${pageSql(paging, sorted, sql`d.id`)}
    ) p JOIN domains d ON d.id = p.id JOIN sites s ON s.id = d.site_id ${pageSql({ ...paging, page: 1 }, sorted, sql`d.id`)}`;

/** The total; null if there is no such site. */
export async function countDomains({ db }: Ctx, siteId: string, filter: DomainFilter): Promise<number | null> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT (SELECT count(*) FROM domains d WHERE d.site_id = s.id${where(filter)})::int AS total
      FROM sites s WHERE s.id = ${siteId} AND ${site}`,
  );
  return row?.total ?? null;
}

export async function readDomain(
  { db }: Ctx,
  siteId: string,
  by: { id: string } | { name: string },
): Promise<Domain | null> {
  const key = 'id' in by ? sql`d.id = ${by.id}` : sql`d.name = ${by.name}`;
  const [row] = await db.$read<Domain>(
    ({ site }) => sql`SELECT ${columns} FROM domains d JOIN sites s ON s.id = d.site_id
      WHERE ${key} AND d.site_id = ${siteId} AND ${site}`,
  );
  return row ?? null;
}

/** Over all sites that the caller sees, or one of them. */
export const readAllDomains = (
  { db }: Ctx,
  paging: DomainPaging,
  filter: DomainFilter,
  siteId: string | undefined,
): Promise<(Domain & { siteName: string })[]> =>
  db.$read(({ site }) =>
    page(
      sql`${columns}, s.name AS "siteName"`,
      sql`${site}${andAll([siteId && sql`d.site_id = ${siteId}`])}`,
      paging,
      where(filter),
    ),
  );

export async function countAllDomains({ db }: Ctx, filter: DomainFilter, siteId: string | undefined): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT count(*)::int AS total FROM domains d JOIN sites s ON s.id = d.site_id
      WHERE ${site}${andAll([siteId && sql`d.site_id = ${siteId}`])}${where(filter)}`,
  );
  return row?.total ?? 0;
}

function where(filter: DomainFilter): Sql {
  const { keywords, tags, cnameStatuses, certStatus, certificateID, forceSSL, certificateMissing, enabled } = filter;
  return andAll([
    keywords && isFound(keywords),
    tags && sql`d.tags && ${tags}::text[]`,
    cnameStatuses && sql`d.cname_status = ANY(${cnameStatuses})`,
    certStatus && sql`d.cert_status = ANY(${certStatus})`,
    certificateID && sql`d.certificate_id = ${certificateID}`,
    forceSSL !== undefined && sql`d.force_ssl = ${forceSSL}`,
    certificateMissing !== undefined && sql`${isCertificateMissing(sql`d`)} = ${certificateMissing}`,
    enabled !== undefined && sql`d.enabled = ${enabled}`,
    filter.createdAtStart && sql`d.created_at >= ${filter.createdAtStart}`,
    filter.createdAtEnd && sql`d.created_at <= ${filter.createdAtEnd}`,
    filter.updatedAtStart && sql`d.updated_at >= ${filter.updatedAtStart}`,
    filter.updatedAtEnd && sql`d.updated_at <= ${filter.updatedAtEnd}`,
  ]);
}

/** Tags are in any script, and names in punycode, of which whole labels are found. */
const isFound = (keywords: string) =>
  sql`(${containsLower(sql`d.search`, keywords)} OR ${containsLower(sql`d.search`, asciiName(keywords.toLowerCase()))})`;

/** Matches names only. The extra condition on `search` lets PostgreSQL use its trigram index. */
const namedIn = (siteId: string, site: Sql, { keyword, ids }: MetaQuery) => {
  const part = keyword && asciiName(keyword.toLowerCase());
  return sql`FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.site_id = ${siteId} AND ${site}${andAll([
    part && sql`${containsLower(sql`d.search`, part)} AND ${containsLower(sql`d.name`, part)}`,
    ids && sql`d.id = ANY(${ids}::uuid[])`,
  ])}`;
};

export const readMeta = ({ db }: Ctx, siteId: string, query: MetaQuery): Promise<{ id: string; name: string }[]> =>
  db.$read(
    ({ site }) =>
      sql`SELECT d.id, d.name ${namedIn(siteId, site, query)} ${pageSql(
        { page: query.page, pageSize: query.pageSize, sortBy: 'name', orderBy: 'asc' },
        sorted,
        sql`d.id`,
      )}`,
  );

export async function countMeta({ db }: Ctx, siteId: string, query: MetaQuery): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT count(*)::int AS total ${namedIn(siteId, site, query)}`,
  );
  return row?.total ?? 0;
}

/** The tags of domains, of one site or of all that the caller sees. */
export const readTags = ({ db }: Ctx, search: NameSearch, siteId?: string) =>
  tagsPage(
    db.$read,
    search,
    ({ site }) =>
      sql`domains d JOIN sites s ON s.id = d.site_id, unnest(d.tags) t (tag) WHERE ${site}${andAll([
        siteId && sql`d.site_id = ${siteId}`,
      ])}`,
  );

/** For the export, ordered by name. */
export const readForExport = ({ db }: Ctx, siteId: string, ids: readonly string[]): Promise<Domain[]> =>
  db.$read(
    ({ site }) => sql`SELECT ${columns} FROM domains d JOIN sites s ON s.id = d.site_id
      WHERE d.site_id = ${siteId} AND d.id = ANY(${ids}::uuid[]) AND ${site} ORDER BY d.name`,
  );

export type UpstreamPaging = Paging<'address' | 'domainName' | 'port' | 'weight'>;
const originsSorted = {
  address: sql`u.address`,
  domainName: sql`d.name`,
  port: sql`u.port`,
  weight: sql`u.weight`,
};
const originsOf = (siteId: string, site: Sql, keyword: string | undefined) =>
  sql`FROM upstreams u JOIN domains d ON d.id = u.domain_id JOIN sites s ON s.id = u.site_id
    WHERE u.site_id = ${siteId} AND ${site}${andAll([
      keyword && sql`(${contains(sql`u.address`, keyword)} OR ${containsLower(sql`d.name`, keyword)})`,
    ])}`;

export const readOrigins = (
  { db }: Ctx,
  siteId: string,
  paging: UpstreamPaging,
  keyword: string | undefined,
): Promise<SiteUpstream[]> =>
  db.$read(
    ({ site }) =>
      sql`SELECT u.id, u.address, u.port, u.weight, u.backup, u.enabled, u.domain_id AS "domainID", d.name AS "domainName"
        ${originsOf(siteId, site, keyword)} ${pageSql(paging, originsSorted, sql`u.id`)}`,
  );

export async function countOrigins({ db }: Ctx, siteId: string, keyword: string | undefined): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ site }) => sql`SELECT count(*)::int AS total ${originsOf(siteId, site, keyword)}`,
  );
  return row?.total ?? 0;
}

/** Health by origin, over the nodes that have checked it recently. The nodes are not named. */
export const readHealth = ({ db }: Ctx, siteId: string, domainId: string): Promise<OriginHealth[]> =>
  db.$read(
    ({ site }) => sql`SELECT u.id AS "upstreamID", count(*) FILTER (WHERE o.is_up)::int AS up,
        count(*) FILTER (WHERE NOT o.is_up)::int AS down, max(o.reason) AS reason,
        round(avg(o.took_ms))::int AS "tookMs", max(o.seen_at) AS "seenAt"
      FROM upstreams u JOIN sites s ON s.id = u.site_id JOIN domains d ON d.id = u.domain_id
        JOIN origin_states o ON o.upstream_id = u.id
      WHERE u.domain_id = ${domainId} AND u.site_id = ${siteId} AND ${site} AND d.health_check IS NOT NULL
        AND o.seen_at > now() - interval '3 minutes'
      GROUP BY u.id ORDER BY u.id`,
  );

export const readProofs = ({ db }: Ctx, siteId: string, ids: readonly string[]): Promise<ProofCheck[]> =>
  db.$read(
    ({ site }) => sql`SELECT d.id, d.name, ${proof} AS proof FROM domains d JOIN sites s ON s.id = d.site_id
      WHERE d.site_id = ${siteId} AND d.id = ANY(${ids}::uuid[]) AND ${site} ORDER BY d.name`,
  );
