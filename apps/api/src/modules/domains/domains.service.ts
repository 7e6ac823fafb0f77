import type { MetaQuery, NameSearch } from '@edgeloom/contract/common/common.ts';
import type { Domain, DomainUpdate, HttpsInput } from '@edgeloom/contract/domains/domains.ts';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import { conflictIn } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import {
  claimedNames,
  enabledAnywhere,
  isPublicSuffix,
  openProofs,
  UNPROVEN,
  unprovenNames,
} from '../../core/enabled-names.ts';
import { fail, failTogether, faultsByReason, type Fault } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { SQL_NULL } from '../../core/json-null.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { withTraffic } from '../../statistics/list-traffic.ts';
import type { Prisma } from '../../generated/client.ts';
import * as sites from '../sites/sites.service.ts';
import { openPorts } from '../ports/site-ports.service.ts';
import { cnameOf, suffixesOf } from './cname.service.ts';
import {
  countAllDomains,
  countDomains,
  readAllDomains,
  readDomain,
  readDomains,
  countMeta,
  readMeta,
  readTags,
  type DomainFilter,
  type DomainPaging,
} from './domains.queries.ts';

export interface InDomain {
  siteId: string;
  domainId: string;
}
type Filter = DomainPaging & DomainFilter;

export async function list(ctx: Ctx, siteId: string, query: Filter) {
  const { data, total } = await readPage(ctx, siteId, query);
  return { data: await withTraffic(ctx, 'domain', data, ({ siteID }) => siteID), total };
}

async function readPage(ctx: Ctx, siteId: string, { page, pageSize, sortBy, orderBy, ...filter }: Filter) {
  const [data, total] = await Promise.all([
    readDomains(ctx, siteId, { page, pageSize, sortBy, orderBy }, filter),
    countDomains(ctx, siteId, filter),
  ]);
  return { data, total: total ?? fail('NOT_FOUND') };
}

/** A short list for setting up DNS. */
export async function listSimple(ctx: Ctx, siteId: string, filter: Filter) {
  const select = { cnameLabel: true } as const;
  const [{ data, total }, site] = await Promise.all([
    readPage(ctx, siteId, filter),
    ctx.db.site.findUnique({ where: { id: siteId }, select }),
  ]);
  const cname = site && cnameOf(site.cnameLabel, await suffixesOf(ctx));
  return { data: data.map((domain) => ({ ...domain, cname })), total };
}

/** Over all sites that the caller sees. */
export async function listAll(
  ctx: Ctx,
  { page, pageSize, sortBy, orderBy, siteID, ...filter }: Filter & { siteID?: string | undefined },
) {
  const [rows, total] = await Promise.all([
    readAllDomains(ctx, { page, pageSize, sortBy, orderBy }, filter, siteID),
    countAllDomains(ctx, filter, siteID),
  ]);
  return { data: await withTraffic(ctx, 'domain', rows, (domain) => domain.siteID), total };
}

export async function meta(ctx: Ctx, siteId: string, query: MetaQuery) {
  await sites.own(ctx.db, siteId);
  const [data, total] = await Promise.all([readMeta(ctx, siteId, query), countMeta(ctx, siteId, query)]);
  return { data, total };
}

export async function tags(ctx: Ctx, siteId: string, search: NameSearch) {
  await sites.own(ctx.db, siteId);
  return readTags(ctx, search, siteId);
}

export const allTags = (ctx: Ctx, search: NameSearch) => readTags(ctx, search);

export const find = async (ctx: Ctx, siteId: string, by: { id: string } | { name: string }): Promise<Domain> =>
  (await readDomain(ctx, siteId, by)) ?? fail('NOT_FOUND');

export async function update(
  ctx: Ctx,
  { siteId, domainId }: InDomain,
  { healthCheck, ...fields }: DomainUpdate,
): Promise<Domain> {
  await ctx.db.$transaction((tx) =>
    write(tx, siteId, domainId, {
      ...omitUndefined(fields),
      ...(healthCheck !== undefined && { healthCheck: healthCheck ?? SQL_NULL }),
    }),
  );
  return find(ctx, siteId, { id: domainId });
}

export async function setHttps(
  ctx: Ctx,
  { siteId, domainId }: InDomain,
  { hsts, forceSSL, minTLS, originCertificateID, ...input }: HttpsInput,
): Promise<Domain> {
  await ctx.db.$transaction(async (tx) => {
    // Locks the site if the domain has a port map, so that no mapped port can close concurrently.
    const site = input.portMap.length > 0 ? await sites.lock(tx, siteId) : await sites.own(tx, siteId);
    const missing = await unopened(tx, site, input.portMap);
    if (missing !== null) fail('ILLEGAL_PORT_MAP', { extra: { port: missing } });
    // Only a certificate of this site; any other is NOT_FOUND.
    if (originCertificateID) {
      const where = { id: originCertificateID, siteId, pairs: { some: {} } };
      if ((await tx.certificate.count({ where })) === 0) fail('NOT_FOUND');
    }
    await write(tx, siteId, domainId, {
      ...omitUndefined({ ...input, forceSsl: forceSSL, minTls: minTLS, originCertificateId: originCertificateID }),
      ...(hsts === null && { hstsMaxAgeSeconds: null, hstsIncludeSubdomains: false, hstsPreload: false }),
      ...(hsts && {
        hstsMaxAgeSeconds: hsts.maxAgeSeconds,
        hstsIncludeSubdomains: hsts.includeSubdomains,
        hstsPreload: hsts.preload,
      }),
    });
  });
  return find(ctx, siteId, { id: domainId });
}

async function write(tx: ScopedTx, siteId: string, id: string, data: Prisma.DomainUncheckedUpdateInput): Promise<void> {
  const row = await tx.domain.update({
    where: { id, siteId },
    data,
    select: { name: true, enabled: true, site: { select: { zoneId: true } } },
  });
  if (row.enabled) await changed(tx, row.site.zoneId, hostKey(row.name));
}

export async function setStatus(ctx: Ctx, siteId: string, { ids, enabled }: { ids: string[]; enabled: boolean }) {
  const where = { siteId, id: { in: ids } };
  const rows = await ctx.db.domain.findMany({ where, select: { name: true } });
  if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
  const names = rows.map(({ name }) => name);
  // Before the transaction: these queries use other connections, and concurrent calls could otherwise exhaust the pool.
  if (enabled) await assertEnabling(ctx, siteId, ids, names);
  return ctx.db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const { count } = await orTaken(tx.domain.updateMany({ where, data: { enabled } }));
    if (count !== rows.length) fail('NOT_FOUND');
    await changed(tx, zoneId, ...names.map(hostKey), ...(enabled ? [siteKey(siteId)] : []));
    return { ids };
  });
}

async function assertEnabling({ installation, actor }: Ctx, siteId: string, ids: string[], names: string[]) {
  const taken = await enabledAnywhere(installation, actor.clientId, names, ids);
  const claimed = await claimedNames(installation, ids);
  const unproven = await unprovenNames(installation, siteId, names);
  await openProofs(installation, siteId, [...unproven]);
  const faults = names.flatMap((target): Fault[] => {
    if (taken.has(target)) return [{ reason: 'DOMAIN_TAKEN', target }];
    if (isPublicSuffix(target) && !claimed.has(target)) return [{ reason: 'PUBLIC_SUFFIX', target }];
    return unproven.has(target) ? [{ reason: 'NAME_UNPROVEN', target }] : [];
  });
  failOnce(faults, ids.length, 'ids.0');
}

/** Customers cannot add or remove domains if the product says so. */
export function assertUnlocked({ actor }: Ctx, { product }: { product: { domainLock: boolean } }): void {
  if (product.domainLock && actor.kind === 'user') fail('DOMAINS_LOCKED');
}

/** Unless `disable` is set, domains that are on are refused. */
export const remove = (ctx: Ctx, siteId: string, { ids, disable = false }: { ids: string[]; disable?: boolean }) =>
  ctx.db.$transaction(async (tx) => {
    const site = await sites.own(tx, siteId);
    const { zoneId } = site;
    assertUnlocked(ctx, site);
    const where = { siteId, id: { in: ids } };
    const rows = await tx.domain.findMany({ where, select: { name: true, enabled: true } });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    const enabled = rows.filter((row) => row.enabled).map(({ name }) => name);
    if (enabled.length > 0 && !disable) fail('STILL_ENABLED', { errorData: [{ rule: 'enabled', targets: enabled }] });
    // Without `disable`, a domain that is enabled at this moment stays.
    const { count } = await tx.domain.deleteMany({ where: disable ? where : { ...where, enabled: false } });
    if (count !== rows.length) fail('STILL_ENABLED');
    await changed(tx, zoneId, ...rows.map(({ name }) => hostKey(name)));
    return { ids };
  });

/** Removes domains by name, all or none. Reports every name that cannot be removed. */
export async function removeNamed(ctx: Ctx, siteId: string, names: string[]) {
  await sites.own(ctx.db, siteId);
  const rows = await ctx.db.domain.findMany({
    where: { siteId, name: { in: names } },
    select: { id: true, name: true, enabled: true },
  });
  const found = new Map(rows.map((row) => [row.name, row]));
  const faults = names.flatMap((name): Fault[] => {
    const row = found.get(name);
    if (row && !row.enabled) return [];
    return [{ reason: row ? 'STILL_ENABLED' : 'NOT_FOUND', target: name }];
  });
  failOnce(faults, names.length);
  return remove(ctx, siteId, { ids: rows.map(({ id }) => id) });
}

/** The first port of the map that the site does not open, or null. */
async function unopened(
  tx: ScopedTx,
  site: { id: string; zoneId: string },
  portMap: readonly { from: number }[],
): Promise<number | null> {
  if (portMap.length === 0) return null;
  const open = await openPorts(tx, site);
  return portMap.find(({ from }) => !open.has(from))?.from ?? null;
}

/** Throws a single fault for one entry, or all faults together for several. */
export function failOnce(faults: readonly Fault[], asked: number, path?: string) {
  const [fault] = faults;
  if (!fault) return;
  if (asked > 1) return failTogether(faults);
  fail(fault.reason, {
    errorData: faultsByReason([fault]).map(({ code: _, ...entry }) => ({
      ...('rule' in entry && path && { path }),
      ...entry,
    })),
    ...(fault.values && { extra: fault.values }),
  });
}

/** Two sites may enable one name at the same moment: the unique index decides. */
export const orTaken = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const index = conflictIn(error);
    if (index === null) throw error;
    if (index === UNPROVEN) fail('NAME_UNPROVEN', { cause: error });
    fail(index.includes('enabled_name') ? 'DOMAIN_TAKEN' : 'DUPLICATED', { cause: error });
  }
};
