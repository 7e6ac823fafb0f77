// The palette's search in one statement, since it runs at each key press.
import { isAddress } from '@edgeloom/contract/common/net.ts';
import type { Found } from '@edgeloom/contract/palette/palette.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import type { Ctx } from '../../core/ctx.ts';
import { contains, sql, type Sql } from '../../core/sql.ts';
import { namesThat } from '../purge/purge-urls.ts';

type Rows = Pick<Found, 'sites' | 'domains' | 'zones' | 'products'>;

/** 0 an exact name, 1 a name that begins with the text, 2 a name with a word that does, 3 another one. */
const distance = (name: Sql, text: string): Sql =>
  sql`CASE WHEN lower(${name}) = ${text} THEN 0 WHEN starts_with(lower(${name}), ${text}) THEN 1
    WHEN strpos(' ' || regexp_replace(lower(${name}), '[^[:alnum:]]+', ' ', 'g'), ' ' || ${text}) > 0 THEN 2 ELSE 3 END`;
const ordered = (name: Sql, text: string): Sql => sql`ORDER BY ${distance(name, text)}, ${name}`;
const tagged = (tags: Sql, text: string): Sql =>
  sql`strpos(lower(E'\\n' || array_to_string(${tags}, E'\\n')), ${`\n${text}`}) > 0`;

export async function search({ db, actor }: Ctx, asked: string, byTag: boolean, limit: number): Promise<Rows> {
  const text = asked.toLowerCase();
  const listed = (can: boolean, rows: Sql): Sql =>
    can ? sql`(SELECT coalesce(json_agg(r), '[]') FROM (${rows} LIMIT ${limit}::int) r)` : sql`'[]'::json`;
  const isClient = actor.kind === 'client' && !byTag;
  const may = (permission: Permission) => actor.permissions.has(permission);
  const [sites, domains] = [may('site:read'), may('domain:read')];
  const [zones, products] = [isClient && may('zone:read'), isClient && may('product:read')];
  if (actor.kind === 'admin' || !(sites || domains || zones || products))
    return { sites: [], domains: [], zones: [], products: [] };

  const matches = (name: Sql, tags: Sql) => (byTag ? tagged(tags, text) : contains(name, text));
  const [found] = await db.$read<Rows>(({ site, zone }) => {
    const ofSites = sql`SELECT s.id, s.name, s.status, p.name AS "productName" FROM sites s JOIN products p ON p.id = s.product_id
      WHERE ${site} AND ${matches(sql`s.name`, sql`s.tags`)} ${ordered(sql`s.name`, text)}`;
    const ofDomains = sql`SELECT d.id, d.site_id AS "siteID", d.name, d.enabled::int AS status, d.cname_status AS "cnameStatus",
      d.cert_status AS "certStatus", s.name AS "siteName" FROM domains d JOIN sites s ON s.id = d.site_id WHERE ${site} AND ${
        isAddress(text)
          ? sql`EXISTS (SELECT 1 FROM upstreams u WHERE u.site_id = s.id AND u.domain_id = d.id AND u.address = ${text})`
          : sql`(d.name = ANY(${namesThat(text)}) OR ${byTag ? tagged(sql`d.tags`, text) : sql`strpos(d.name, ${text}) > 0`})`
      } ORDER BY d.name <> ${text}, d.name <> ALL(${namesThat(text)}), NOT starts_with(d.name, ${text}),
      strpos('.' || translate(d.name, '-', '.'), '.' || ${text}) = 0, d.name`;
    const ofZones = sql`SELECT z.id, z.name FROM zones z WHERE ${zone} AND ${contains(sql`z.name`, text)} ${ordered(sql`z.name`, text)}`;
    const ofProducts = sql`SELECT p.id, p.name, z.name AS "zoneName" FROM products p JOIN zones z ON z.id = p.zone_id
      WHERE ${zone} AND ${contains(sql`p.name`, text)} ${ordered(sql`p.name`, text)}`;
    return sql`SELECT ${listed(sites, ofSites)} AS sites, ${listed(domains, ofDomains)} AS domains,
      ${listed(zones, ofZones)} AS zones, ${listed(products, ofProducts)} AS products`;
  });
  return found ?? { sites: [], domains: [], zones: [], products: [] };
}

/** Ids of the nodes whose names are closest. */
export async function closestNodes({ db }: Ctx, asked: string, limit: number): Promise<string[]> {
  const text = asked.toLowerCase();
  const rows = await db.$read<{ id: string }>(
    ({ zone }) => sql`SELECT n.id FROM nodes n JOIN zones z ON z.id = n.zone_id
      WHERE ${zone} AND ${contains(sql`n.name`, text)} ${ordered(sql`n.name`, text)} LIMIT ${limit}::int`,
  );
  return rows.map(({ id }) => id);
}

/** Ids of the accounts whose names or mail addresses are closest. */
export async function closestAccounts({ db }: Ctx, asked: string, limit: number): Promise<string[]> {
  const text = asked.toLowerCase();
  const rows = await db.$read<{ id: string }>(
    ({ account }) => sql`SELECT a.id FROM accounts a WHERE ${account}
      AND (${contains(sql`a.name`, text)} OR ${contains(sql`a.email`, text)} OR ${contains(sql`a.company_name`, text)})
      ORDER BY least(${distance(sql`a.name`, text)}, ${distance(sql`a.email`, text)}), a.name, a.id LIMIT ${limit}::int`,
  );
  return rows.map(({ id }) => id);
}
