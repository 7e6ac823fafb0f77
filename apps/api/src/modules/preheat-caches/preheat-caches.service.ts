// URLs that all nodes of a zone keep cached. Triggers create a row per node, and node-link/cache-warmer.ts sends them.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import {
  PREHEAT_CACHES_AT_MOST,
  PreheatCopy,
  type PreheatCache,
} from '@edgeloom/contract/preheat-caches/preheat-caches.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, fieldError } from '../../core/fail.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { ScopedDb, ScopedTx } from '../../core/scope.ts';
import { namesThat, readUrls } from '../purge/purge-urls.ts';
import * as zones from '../zones/zones.service.ts';

interface Filter extends Paging<'createdAt' | 'url'> {
  url?: string | undefined;
}
/** The most that a unique index can hold, in bytes. */
const URL_BYTES = 2048;

const include = {
  site: { select: { name: true, status: true, zoneId: true } },
  domain: { select: { name: true, enabled: true } },
} as const;

export async function list({ db }: Ctx, zoneId: string, { url, ...paging }: Filter) {
  await zones.own(db, zoneId);
  const where = { zoneId, ...(url && { url: containing(url) }) };
  const [rows, total] = await Promise.all([
    db.preheatCache.findMany({ where, include, ...pageOf(paging) }),
    db.preheatCache.count({ where }),
  ]);
  const counts = await countsOf(
    db,
    rows.map(({ id }) => id),
  );
  const data = rows.map(({ id, url: address, siteId, site, domain, createdBy, createdAt }): PreheatCache => {
    const { stored, waiting, failing, nodes, warmedAt } = counts(id);
    // If the site left the zone or the domain is disabled, nothing is fetched and the cached copy expires.
    const isServed = domain.enabled && site.status === 'normal' && site.zoneId === zoneId;
    const state = !isServed
      ? 'resting'
      : failing > 0
        ? 'failing'
        : stored < nodes || nodes === 0
          ? 'waiting'
          : 'stored';
    return {
      id,
      url: address,
      siteID: siteId,
      siteName: site.name,
      domainName: domain.name,
      state,
      nodes,
      stored,
      waiting,
      failing,
      warmedAt,
      createdBy,
      createdAt,
    };
  });
  return { data, total };
}

async function countsOf(db: ScopedDb, ids: string[]) {
  const rows = await db.preheatCopy.groupBy({
    by: ['preheatId', 'state'],
    where: { preheatId: { in: ids } },
    _count: true,
    _max: { warmedAt: true },
  });
  const ofUrl = Map.groupBy(rows, ({ preheatId }) => preheatId);
  return (id: string) => {
    const found = ofUrl.get(id) ?? [];
    const sum = (...states: readonly PreheatCopy['state'][]) =>
      found.reduce((total, { state, _count }) => total + (states.some((one) => one === state) ? _count : 0), 0);
    const moments = found.flatMap(({ _max }) => _max.warmedAt ?? []);
    return {
      stored: sum('stored'),
      waiting: sum('waiting', 'resting'),
      failing: sum('failed', 'notStored'),
      nodes: found.reduce((total, { _count }) => total + _count, 0),
      warmedAt: moments.reduce<Date | null>((last, one) => (last === null || one > last ? one : last), null),
    };
  };
}

export async function copies({ db }: Ctx, zoneId: string, preheatId: string) {
  if ((await db.preheatCache.count({ where: { id: preheatId, zoneId } })) === 0) fail('NOT_FOUND');
  const rows = await db.preheatCopy.findMany({
    where: { preheatId },
    include: { node: { select: { name: true } } },
    orderBy: { node: { name: 'asc' } },
  });
  const data = rows.map(({ nodeId, node, state, fault, warmedAt, dueAt }) => ({
    nodeID: nodeId,
    nodeName: node.name,
    state: PreheatCopy.shape.state.parse(state),
    fault,
    warmedAt,
    dueAt,
  }));
  return { data };
}

/** URLs that are already listed stay as they are. */
export const create = ({ db, actor }: Ctx, zoneId: string, texts: string[]) =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    // Locks the zone: concurrent calls would otherwise miss each other's URLs in the limit and in the check for
    // duplicates.
    await tx.zone.update({ where: { id: zoneId }, data: { updatedAt: new Date() }, select: { id: true } });
    const found = await servedUrls(tx, zoneId, texts);
    const before = await tx.preheatCache.findMany({
      where: { zoneId, url: { in: found.map(({ url }) => url) } },
      select: { url: true },
    });
    const known = new Set(before.map(({ url }) => url));
    const fresh = [...new Map(found.map((one) => [one.url, one])).values()].filter(({ url }) => !known.has(url));
    if ((await tx.preheatCache.count({ where: { zoneId } })) + fresh.length > PREHEAT_CACHES_AT_MOST)
      fail('LIMIT_REACHED');
    const rows = await tx.preheatCache.createManyAndReturn({
      data: fresh.map((one) => ({ ...one, zoneId, createdBy: actor.name })),
      select: { id: true },
    });
    return { ids: rows.map(({ id }) => id) };
  });

export const remove = ({ db }: Ctx, zoneId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.preheatCache.deleteMany({ where: { zoneId, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** Every node checks now and fetches what it lacks. */
export const warm = ({ db }: Ctx, zoneId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const where = { zoneId, id: { in: ids } };
    if ((await tx.preheatCache.count({ where })) !== new Set(ids).size) fail('NOT_FOUND');
    await tx.preheatCopy.updateMany({
      where: { preheat: where },
      data: { state: 'waiting', fault: null, tries: 0, dueAt: new Date() },
    });
    return { ids };
  });

/** These nodes are about to purge: their copies may all be gone. */
export const forget = (db: ScopedTx, nodeIds: string[], dueAt: Date) =>
  db.preheatCopy.updateMany({
    where: { nodeId: { in: nodeIds } },
    data: { state: 'waiting', fault: null, tries: 0, dueAt },
  });

const faults = {
  format: 'wrong format',
  size: 'too long',
  domain: 'no enabled domain of a site in this zone',
  port: 'the zone does not open this port, or speaks the other protocol there',
} as const;

/** Normalises URLs as browsers do and finds the domain that serves each. Fails with every URL that no domain serves. */
async function servedUrls(tx: ScopedTx, zoneId: string, texts: string[]) {
  const read = readUrls(texts);
  const names = [...new Set(read.flatMap((url) => (url === null ? [] : namesThat(url.hostname))))];
  const [domains, ports] = await Promise.all([
    tx.domain.findMany({
      where: { enabledName: { in: names }, site: { zoneId } },
      select: { id: true, name: true, siteId: true },
    }),
    tx.zonePort.findMany({ where: { zoneId }, select: { port: true, tls: true } }),
  ]);
  const byName = new Map(domains.map((domain) => [domain.name, domain]));
  const checked = read.map((url) => {
    if (url === null) return 'format';
    if (Buffer.byteLength(url.href) > URL_BYTES) return 'size';
    const domain = namesThat(url.hostname).flatMap((name) => byName.get(name) ?? [])[0];
    if (!domain) return 'domain';
    const tls = url.protocol === 'https:';
    const port = Number(url.port) || (tls ? 443 : 80);
    if (!ports.some((open) => open.port === port && open.tls === tls)) return 'port';
    return { url: url.href, siteId: domain.siteId, domainId: domain.id };
  });
  const errorData = checked.flatMap((one, i) =>
    typeof one === 'string' ? [fieldError(`urls.${i}`, one, faults[one])] : [],
  );
  if (errorData.length > 0) fail('PARAMETER', { errorData });
  return checked.flatMap((one) => (typeof one === 'string' ? [] : [one]));
}
