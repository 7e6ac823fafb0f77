// Purges caches. A hard purge of a whole site or domain raises its version, which is part of every cache key: it is
// immediate and complete. Purges of URLs, prefixes and tags, and all soft purges, are sent to each node, which stores
// them.
import { pathError } from '@edgeloom/contract/common/paths.ts';
import { PurgeTag, type PurgeInput } from '@edgeloom/contract/purge/purge.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { ErrorRule } from '@edgeloom/contract/errors.ts';
import { JobState } from '@edgeloom/contract/jobs/jobs.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, fieldError } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import * as jobs from '../jobs/jobs.service.ts';
import * as sites from '../sites/sites.service.ts';
import { namesThat, prefixOf, readUrls } from './purge-urls.ts';

export async function all(ctx: Ctx, siteId: string, soft: boolean) {
  const [jobID = fail('NOT_FOUND')] = (await allOf(ctx, [siteId], soft)).jobIDs;
  return { jobID };
}

/** All or none: NOT_FOUND if the caller lacks one of the sites. */
export const allOf = ({ db, actor }: Ctx, siteIds: string[], soft: boolean) =>
  db.$transaction(async (tx) => {
    if (soft) return allSoftly(tx, siteIds, actor.name);
    const sites = await tx.site.updateManyAndReturn({
      where: { id: { in: siteIds } },
      data: { cacheVersion: { increment: 1 } },
      select: { id: true, name: true, zoneId: true },
    });
    if (sites.length !== new Set(siteIds).size) fail('NOT_FOUND');
    const jobIDs = await jobs.startAll(
      tx,
      sites.map(({ id, name }) => ({
        siteId: id,
        kind: 'purgeSite',
        title: name,
        docKeys: [siteKey(id)],
        createdBy: actor.name,
      })),
    );
    await note(
      tx,
      sites.map(({ id }) => id),
      jobIDs,
      false,
      actor.name,
    );
    for (const [zoneId, inZone] of Map.groupBy(sites, (site) => site.zoneId))
      await changed(tx, zoneId, ...inZone.map(({ id }) => siteKey(id)));
    return { jobIDs };
  });

/** An empty prefix matches every URL of a site. */
async function allSoftly(tx: ScopedTx, siteIds: string[], createdBy: string) {
  const sites = await tx.site.findMany({ where: { id: { in: siteIds } }, select: { id: true, name: true } });
  if (sites.length !== new Set(siteIds).size) fail('NOT_FOUND');
  const jobIDs = await jobs.startAll(
    tx,
    sites.map(({ id, name }) => ({
      siteId: id,
      kind: 'purgePrefixes',
      title: name,
      urls: [''],
      soft: true,
      createdBy,
    })),
  );
  await note(
    tx,
    sites.map(({ id }) => id),
    jobIDs,
    true,
    createdBy,
  );
  return { jobIDs };
}

const WHOLE_SITE = 0;

/** Writes the purge history of each site; `jobIDs` are in the same order as the sites. */
const note = (tx: ScopedTx, siteIds: string[], jobIDs: string[], soft: boolean, createdBy: string) =>
  tx.purge.createMany({
    data: siteIds.map((siteId, i) => ({
      siteId,
      type: WHOLE_SITE,
      soft,
      urls: [],
      jobId: jobIDs[i] ?? null,
      createdBy,
    })),
  });

export const some = (ctx: Ctx, siteId: string, input: PurgeInput) =>
  ctx.db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const asked: Asked = { tx, siteId, zoneId, texts: input.urls, soft: input.soft, createdBy: ctx.actor.name };
    const jobID = await start[input.type](asked);
    const { type, urls, soft } = input;
    await tx.purge.create({ data: { siteId, type, urls, soft, jobId: jobID, createdBy: ctx.actor.name } });
    return { jobID };
  });

interface Asked {
  tx: ScopedTx;
  siteId: string;
  zoneId: string;
  texts: string[];
  soft: boolean;
  createdBy: string;
}

const start = { 1: purgeUrls, 2: purgePrefixes, 3: purgeHosts, 4: purgeTags };

/** Sends the purge to each node. */
const startPurge = ({ tx, siteId, soft, createdBy }: Asked, kind: jobs.NewJob['kind'], texts: string[]) => {
  const urls = [...new Set(texts)];
  return jobs.start(tx, { siteId, kind, title: titleOf(urls), urls, soft, createdBy });
};

async function purgeUrls(asked: Asked): Promise<string> {
  const urls = await ownUrls(asked);
  return startPurge(
    asked,
    'purgeURLs',
    urls.map(({ href }) => href),
  );
}

async function purgePrefixes(asked: Asked): Promise<string> {
  const urls = await ownUrls(asked);
  // An URL without a path gets one when parsed, but a prefix must be written in full.
  const prefixes = urls.map((url, i) => (asked.texts[i]?.endsWith('/') ? prefixOf(url) : null));
  refuse(prefixes.flatMap((prefix, i) => (prefix === null ? [fault(i, 'prefix', PREFIX_MESSAGE)] : [])));
  refuse(
    urls.flatMap(({ pathname }, i) => {
      const error = pathError(pathname, 'start', 'any');
      return error ? [fault(i, 'rule', error)] : [];
    }),
  );
  return startPurge(
    asked,
    'purgePrefixes',
    prefixes.flatMap((prefix) => prefix ?? []),
  );
}

const PREFIX_MESSAGE = 'start with http:// or https://, end with /, without a query';

function purgeTags(asked: Asked): Promise<string> {
  refuse(
    asked.texts.flatMap((tag, i) => (PurgeTag.safeParse(tag).success ? [] : [fault(i, 'format', 'wrong format')])),
  );
  return startPurge(
    asked,
    'purgeTags',
    asked.texts.map((tag) => tag.toLowerCase()),
  );
}

/** URLs of domains that the site serves, in the given order. */
export async function ownUrls({ tx, siteId, texts }: Pick<Asked, 'tx' | 'siteId' | 'texts'>): Promise<URL[]> {
  const read = readUrls(texts);
  const names = [...new Set(read.flatMap((url) => (url === null ? [] : namesThat(url.hostname))))];
  const served = new Set(await enabledNames(tx, siteId, names));
  refuse(
    read.flatMap((url, i) => {
      if (url === null) return [fault(i, 'format', 'wrong format')];
      return namesThat(url.hostname).some((name) => served.has(name)) ? [] : [foreign(i)];
    }),
  );
  return read.flatMap((url) => url ?? []);
}

async function purgeHosts(asked: Asked): Promise<string> {
  const { tx, siteId, zoneId, soft, createdBy } = asked;
  const names = asked.texts.map((text) => text.toLowerCase());
  const served = new Set(await enabledNames(tx, siteId, names));
  refuse(names.flatMap((name, i) => (served.has(name) ? [] : [foreign(i)])));
  if (soft) return purgeSoftly(asked, [...served]);

  await tx.domain.updateMany({
    where: { siteId, enabledName: { in: [...served] } },
    data: { cacheVersion: { increment: 1 } },
  });
  const docKeys = [...served].map(hostKey);
  const title = titleOf([...served]);
  await changed(tx, zoneId, ...docKeys);
  return jobs.start(tx, { siteId, kind: 'purgeHosts', title, docKeys, createdBy });
}

/** Soft purge by URL prefixes of these domains; a wildcard has too many prefixes. */
function purgeSoftly(asked: Asked, names: string[]): Promise<string> {
  refuse(
    names.flatMap((name, i) => (name.startsWith('*.') ? [fault(i, 'wildcard', 'a wildcard has no soft purge')] : [])),
  );
  return startPurge(
    asked,
    'purgePrefixes',
    names.map((name) => `${name}/`),
  );
}

const fault = (i: number, rule: ErrorRule, message: string) => fieldError(`urls.${i}`, rule, message);
const foreign = (i: number) => fault(i, 'domain', 'no enabled domain of this site');
const refuse = (errorData: ReturnType<typeof fault>[]) => {
  if (errorData.length > 0) fail('PARAMETER', { errorData });
};

async function enabledNames(tx: ScopedTx, siteId: string, names: string[]): Promise<string[]> {
  const where = { siteId, enabledName: { in: names } };
  const rows = await tx.domain.findMany({ where, select: { name: true } });
  return rows.map(({ name }) => name);
}

export const titleOf = ([first = '', ...more]: string[]) =>
  more.length === 0 ? first.slice(0, 256) : `${first.slice(0, 240)} +${more.length}`;

export async function history({ db }: Ctx, siteId: string, paging: Paging<'createdAt'>) {
  await sites.own(db, siteId);
  const where = { siteId };
  const [rows, total] = await Promise.all([
    db.purge.findMany({ where, include: { job: { select: { state: true } } }, ...pageOf(paging) }),
    db.purge.count({ where }),
  ]);
  const data = rows.map(({ id, type, soft, urls, job, jobId, createdBy, createdAt }) => ({
    id,
    type,
    soft,
    urls,
    // A job that was cleaned up had completed.
    state: JobState.parse(job?.state ?? 'completed'),
    jobID: jobId,
    createdBy,
    createdAt,
  }));
  return { data, total };
}

export const removeRows = ({ db }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.purge.deleteMany({ where: { siteId, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });
