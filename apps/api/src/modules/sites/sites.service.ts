import type { MetaQuery, NameSearch } from '@edgeloom/contract/common/common.ts';
import { certKey, moduleKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import type { Site, SiteInfo, SiteInput, SiteUpdate } from '@edgeloom/contract/sites/sites.ts';
import { changed } from '../../core/changes.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { choicesOf, namedBy } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { readMonthTraffic, withTraffic } from '../../statistics/list-traffic.ts';
import type { Prisma } from '../../generated/client.ts';
import { cnameOf, suffixesOf } from '../domains/cname.service.ts';
import { openFirstPorts } from '../ports/first-ports.ts';
import { assertNoTemplate, copyTemplateSettings } from '../predefined-setting/predefined-setting.service.ts';
import { createDefaults } from './defaults.ts';
import { dueNotice } from './expiry-notices.ts';
import { limitsOf, ownLimits } from './limits.ts';
import {
  countByProduct,
  countSites,
  readContents,
  readModulesInUse,
  readPublishError,
  readSettingsInUse,
  readSite,
  readSites,
  readSiteTags,
  type SiteFilter,
  type SitePaging,
} from './sites.queries.ts';

const include = {
  product: { select: { name: true, ...ownLimits } },
  zone: { select: { name: true } },
  owner: { select: { name: true, status: true } },
  _count: { select: { domains: true, portRules: true } },
} satisfies Prisma.SiteInclude;

export async function list(ctx: Ctx, { page, pageSize, sortBy, orderBy, groupBy, ...filter }: SitePaging & SiteFilter) {
  const paging = { page, pageSize, sortBy, orderBy, groupBy };
  if (!groupBy) {
    const [rows, total] = await Promise.all([readSites(ctx, paging, filter), countSites(ctx, filter)]);
    return { data: await withTraffic(ctx, 'site', rows, ({ id }) => id), total };
  }
  const [rows, counts] = await Promise.all([readSites(ctx, paging, filter), countByProduct(ctx, filter)]);
  const data = await withTraffic(ctx, 'site', rows, ({ id }) => id);
  const shown = new Set(data.map(({ productID }) => productID));
  const onEarlierPages = (page - 1) * pageSize;
  const groups = [];
  let total = 0;
  for (const { id, count } of counts) {
    if (shown.has(id)) groups.push({ id, count, before: Math.max(0, onEarlierPages - total) });
    total += count;
  }
  return { data, total, groups };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.site, namedBy(query), query);

export async function get(ctx: Ctx, id: string): Promise<SiteInfo> {
  const { cnameLabel, ...site } = (await readSite(ctx, id)) ?? fail('NOT_FOUND');
  const [suffixes, traffic] = await Promise.all([suffixesOf(ctx), readMonthTraffic(ctx, [id])]);
  return { ...site, cname: cnameOf(cnameLabel, suffixes), traffic };
}

export const settingsInUse = async (ctx: Ctx, id: string) => (await readSettingsInUse(ctx, id)) ?? fail('NOT_FOUND');
export const modulesInUse = async (ctx: Ctx, id: string) => (await readModulesInUse(ctx, id)) ?? fail('NOT_FOUND');

export const tagsInUse = (ctx: Ctx, search: NameSearch) => readSiteTags(ctx, search);

export const tags = async ({ db }: Ctx, id: string) =>
  (await db.site.findUnique({ where: { id }, select: { tags: true } })) ?? fail('NOT_FOUND');

export const setTags = ({ db }: Ctx, id: string, omitUndefined: string[]) =>
  db.site.update({ where: { id }, data: { tags: omitUndefined }, select: { tags: true } });

export async function clientResources(ctx: Ctx) {
  const { db, actor } = ctx;
  const seen = (permission: Permission, count: () => Promise<number>) =>
    actor.permissions.has(permission) ? count() : null;
  const [zones, nodes, installedNodes, groups, filledGroups, products, sites, domains, traffic] = await Promise.all([
    seen('zone:read', () => db.zone.count()),
    seen('node:read', () => db.edgeNode.count()),
    seen('node:read', () => db.edgeNode.count({ where: { joinedAt: { not: null } } })),
    seen('group:read', () => db.group.count()),
    seen('group:read', () => db.group.count({ where: { members: { some: {} } } })),
    seen('product:read', () => db.product.count()),
    seen('site:read', () => db.site.count()),
    seen('domain:read', () => db.domain.count()),
    readMonthTraffic(ctx),
  ]);
  const oldest = { orderBy: { id: 'asc' }, select: { id: true, name: true } } as const;
  const firstSite = sites !== null && domains === 0 ? await db.site.findFirst(oldest) : null;
  return { zones, nodes, installedNodes, groups, filledGroups, products, sites, domains, firstSite, traffic };
}

export async function resources(ctx: Ctx) {
  const { db } = ctx;
  const [sites, products, domains, enabledDomains, forwards, cacheRules, traffic] = await Promise.all([
    db.site.groupBy({ by: ['productId', 'domainLimit', 'portLimit'], _count: true }),
    db.product.findMany({ select: { id: true, domainLimit: true, portLimit: true } }),
    db.domain.count(),
    db.domain.count({ where: { enabled: true } }),
    db.portRule.count(),
    db.cacheRule.count(),
    readMonthTraffic(ctx),
  ]);
  const limits = new Map(products.map(({ id, ...limit }) => [id, limit]));
  /** Zero means unlimited. */
  const together = (name: 'domainLimit' | 'portLimit') => {
    const parts = sites.map((site) => (site[name] ?? limits.get(site.productId)?.[name] ?? 0) * site._count);
    return parts.includes(0) ? null : parts.reduce((sum, part) => sum + part, 0);
  };
  return {
    sites: sites.reduce((sum, { _count }) => sum + _count, 0),
    domains,
    enabledDomains,
    domainLimit: together('domainLimit'),
    forwards,
    forwardLimit: together('portLimit'),
    cacheRules,
    traffic,
  };
}

export const create = (
  { db, actor, log }: Ctx,
  { productID, userID, cnameLabel, ...input }: SiteInput,
): Promise<Site> =>
  db.$transaction(async (tx) => {
    // Locks the product by writing it, so that concurrent calls cannot both add the last allowed site.
    const product = await tx.product.update({ where: { id: productID }, data: { updatedAt: new Date() } });
    if (product.siteLimit > 0 && (await tx.site.count({ where: { productId: productID } })) >= product.siteLimit)
      fail('PRODUCT_SITE_LIMIT');
    await assertCustomer(tx, userID);
    assertLabel(product, cnameLabel);
    const data = {
      ...input,
      ...(cnameLabel !== undefined && { cnameLabel }),
      ...groupsOf(product),
      clientId: actor.clientId,
      productId: productID,
      zoneId: product.zoneId,
      status: product.newSiteStatus,
      ownerId: userID,
    };
    const row = await orFail('DUPLICATED', tx.site.create({ data, include }));
    await createDefaults(tx, row.id);
    await copyTemplateSettings({ log }, tx, row.id);
    await openFirstPorts(tx, row);
    await changed(tx, row.zoneId, siteKey(row.id));
    await tx.$license.assertRoom('sites');
    return siteOf(row, null);
  });

export async function update(ctx: Ctx, { id, userID, ...fields }: SiteUpdate): Promise<Site> {
  const row = await ctx.db.$transaction(async (tx) => {
    if (fields.cnameLabel !== undefined) {
      const select = { product: { select: { cnameMode: true } } };
      const site = (await tx.site.findUnique({ where: { id }, select })) ?? fail('NOT_FOUND');
      assertLabel(site.product, fields.cnameLabel);
    }
    await assertCustomer(tx, userID ?? null);
    if (userID != null) await assertNoTemplate(tx, id);
    const data = { ...omitUndefined(fields), ...(userID !== undefined && { ownerId: userID }) };
    const row = await orFail('DUPLICATED', tx.site.update({ where: { id }, data, include }));
    // The new owner may be locked although the old one was not, or the reverse.
    if (userID !== undefined) await changed(tx, row.zoneId, siteKey(id));
    return row;
  });
  return siteOf(row, await readPublishError(ctx, id));
}

/** Without a group, a trigger sets the first group of the site's zone. */
const groupsOf = ({ groupId, backupGroupId }: { groupId: string | null; backupGroupId: string | null }) => ({
  groupId,
  backupGroupId,
});

/** Gives sites the present groups of their products. */
export const refreshProduct = ({ db }: Ctx, siteIDs: string[]) =>
  db.$transaction(async (tx) => {
    const where = { id: { in: siteIDs } };
    const rows = await tx.site.findMany({
      where,
      select: { id: true, productId: true, product: { select: { groupId: true, backupGroupId: true } } },
    });
    if (rows.length !== new Set(siteIDs).size) fail('NOT_FOUND');
    for (const [, ofProduct] of Map.groupBy(rows, ({ productId }) => productId)) {
      const product = ofProduct[0]?.product;
      if (!product) continue;
      const data = groupsOf(product);
      const lifted = data.backupGroupId === null && { forcedAt: null };
      await tx.site.updateMany({ where: { id: { in: ofProduct.map(({ id }) => id) } }, data: { ...data, ...lifted } });
    }
    return { siteIDs };
  });

/** Points the sites' names to the backup group, or back to the main group. */
export const forceBackup = ({ db, now }: Ctx, siteIDs: string[], enabled: boolean) =>
  db.$transaction(async (tx) => {
    const where = { id: { in: siteIDs } };
    // Locks by writing before reading.
    const { count } = await tx.site.updateMany({ where, data: { updatedAt: new Date() } });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    if (enabled) {
      const without = await tx.site.findMany({ where: { ...where, backupGroupId: null }, select: { name: true } });
      if (without.length > 0)
        fail('NO_BACKUP_GROUP', { errorData: [{ rule: 'backupGroup', targets: without.map(({ name }) => name) }] });
    }
    // Keeps the time of the first call if it was forced already.
    const changing = enabled ? { ...where, forcedAt: null } : where;
    await tx.site.updateMany({ where: changing, data: { forcedAt: enabled ? now() : null } });
    return { siteIDs };
  });

/** Which status an operator may change to which. A status that a limit or the time has set ends only with its cause. */
const refusals: Record<Site['status'], ErrorName | null> = {
  normal: null,
  pause: null,
  lock: null,
  limit: 'SITE_TRAFFIC_LIMITED',
  expired: 'SITE_STATUS_REFUSED',
};

export const setStatus = ({ db }: Ctx, siteIDs: string[], status: 'normal' | 'pause' | 'lock') =>
  db.$transaction(async (tx) => {
    const where = { id: { in: siteIDs } };
    // Locks by writing before reading, so that the checked status is the one that changes.
    const { count } = await tx.site.updateMany({ where, data: { updatedAt: new Date() } });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    const rows = await tx.site.findMany({ where, select: { id: true, name: true, status: true, zoneId: true } });
    for (const row of rows) {
      const isRefused =
        status !== 'lock' &&
        (refusals[row.status] ?? (row.status === 'lock' && status === 'pause' && 'SITE_STATUS_REFUSED'));
      if (isRefused) fail(isRefused, { errorData: [{ targets: [row.name] }] });
    }
    await tx.site.updateMany({ where, data: { status } });
    for (const [zoneId, sites] of Map.groupBy(rows, (row) => row.zoneId))
      await changed(tx, zoneId, ...sites.map(({ id }) => siteKey(id)));
    return { siteIDs };
  });

/** A later expiry ends the status that the clock has set (jobs/expire-sites.job.ts). */
export const setExpiry = ({ db, now }: Ctx, siteIDs: string[], expiry: Date | null) =>
  db.$transaction(async (tx) => {
    const where = { id: { in: siteIDs } };
    // The notice that the new expiry is already inside is not sent, since an operator has just set it.
    const noticedDays = expiry === null ? null : dueNotice(expiry, now());
    const noticedEnd = noticedDays === null ? null : expiry;
    const data = { expiresAt: expiry, noticedEnd, noticedDays };
    const { count } = await tx.site.updateMany({ where, data });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    const isPast = expiry !== null && expiry <= now();
    const changing = isPast
      ? { ...where, status: { not: 'expired' as const } }
      : { ...where, status: 'expired' as const };
    const rows = await tx.site.findMany({ where: changing, select: { id: true, zoneId: true } });
    const ids = rows.map(({ id }) => id);
    await tx.site.updateMany({ where: { id: { in: ids } }, data: { status: isPast ? 'expired' : 'normal' } });
    for (const [zoneId, sites] of Map.groupBy(rows, (row) => row.zoneId))
      await changed(tx, zoneId, ...sites.map(({ id }) => siteKey(id)));
    return { siteIDs };
  });

/** Replaces the tags of each of the sites. */
export const setTagsOf = ({ db }: Ctx, siteIDs: string[], tags: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.site.updateMany({ where: { id: { in: siteIDs } }, data: { tags } });
    if (count !== new Set(siteIDs).size) fail('NOT_FOUND');
    return { siteIDs };
  });

export async function contents(ctx: Ctx, siteIDs: string[]) {
  const data = await readContents(ctx, siteIDs);
  if (data.length !== new Set(siteIDs).size) fail('NOT_FOUND');
  return { data };
}

/** The documents of a site at nodes, besides its own. */
const documents = { certificates: { select: { id: true } }, modules: { select: { id: true } } } as const;
const keyed =
  (key: (id: string) => string) =>
  ({ id }: { id: string }) =>
    key(id);

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const where = { id: { in: ids } };
    const { count } = await tx.site.updateMany({ where, data: { updatedAt: new Date() } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    const rows = await tx.site.findMany({ where, include: { ...include, ...documents } });
    const used = rows.filter(({ _count }) => _count.domains > 0).map(({ name }) => name);
    if (used.length > 0) fail('SITE_HAS_DOMAINS', { errorData: [{ targets: used }] });
    const forwarding = rows.filter(({ _count }) => _count.portRules > 0).map(({ name }) => name);
    if (forwarding.length > 0) fail('SITE_HAS_L4_PORTS', { errorData: [{ targets: forwarding }] });
    for (const { id, zoneId, certificates, modules } of rows)
      await changed(tx, zoneId, siteKey(id), ...certificates.map(keyed(certKey)), ...modules.map(keyed(moduleKey)));
    await tx.site.deleteMany({ where });
    return { ids };
  });

const owned = {
  id: true,
  zoneId: true,
  name: true,
  ...ownLimits,
  product: { select: { ...ownLimits, domainLock: true, autoSsl: true, newDomainsEnabled: true } },
} as const;

/** A site of the caller; NOT_FOUND for any other. */
export const own = async (db: ScopedTx, id: string) =>
  (await db.site.findUnique({ where: { id }, select: owned })) ?? fail('NOT_FOUND');

/** The same, locked until the transaction ends, so that counts stay correct. */
export const lock = (tx: ScopedTx, id: string) =>
  tx.site.update({ where: { id }, data: { updatedAt: new Date() }, select: owned });

/** With other modes labels are random, so that a label does not reveal its site. */
function assertLabel({ cnameMode }: { cnameMode: string }, label: string | undefined) {
  if (label !== undefined && cnameMode !== 'custom')
    failAt('cnameLabel', 'drawn', 'the names of this product’s sites are drawn');
}

async function assertCustomer(tx: ScopedTx, userID: string | null) {
  if (userID === null) return;
  const found = await tx.account.count({ where: { id: userID, kind: 'user', isRoot: true } });
  if (found === 0) failAt('userID', 'notFound', 'there is no such customer');
}

const siteOf = (row: Prisma.SiteGetPayload<{ include: typeof include }>, publishError: Site['publishError']): Site => ({
  id: row.id,
  name: row.name,
  status: row.status,
  tags: row.tags,
  productID: row.productId,
  productName: row.product.name,
  zoneID: row.zoneId,
  zoneName: row.zone.name,
  backupGroupID: row.backupGroupId,
  forcedAt: row.forcedAt,
  publishError,
  userID: row.ownerId,
  userName: row.owner?.name ?? null,
  userStatus: row.owner?.status ?? null,
  domainCount: row._count.domains,
  domainLimit: limitsOf(row).domainLimit,
  portCount: row._count.portRules,
  portLimit: limitsOf(row).portLimit,
  ownLimits: {
    domainLimit: row.domainLimit,
    portLimit: row.portLimit,
    autoCertificateLimit: row.autoCertificateLimit,
    maxConnections: row.maxConnections,
    responseMbps: row.responseMbps,
  },
  expiry: row.expiresAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
