// Taking out of caches before its time. A whole site or name: its version is part of every cache key, so raising it is
// instant and exact. Single URLs: each node unlinks the variants it holds and says how many.
import type { PurgeInput } from '@edgeloom/contract/cache/cache.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { JobState } from '@edgeloom/contract/jobs/jobs.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import * as jobs from '../jobs/jobs.service.ts';
import * as sites from '../sites/sites.service.ts';
import { namesThat, readUrls } from './purge-urls.ts';

export async function all(ctx: Ctx, siteId: string) {
  const [jobID = fail('NOT_FOUND')] = (await allOf(ctx, [siteId])).jobIDs;
  return { jobID };
}

/** All or none: a site that the caller does not have stops the others. */
export const allOf = ({ db, actor }: Ctx, siteIds: string[]) =>
  db.$transaction(async (tx) => {
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
    for (const [zoneId, inZone] of Map.groupBy(sites, (site) => site.zoneId))
      await changed(tx, zoneId, ...inZone.map(({ id }) => siteKey(id)));
    return { jobIDs };
  });

export const some = (ctx: Ctx, siteId: string, { type, urls }: PurgeInput) =>
  ctx.db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const jobID = type === 1 ? await purgeUrls(tx, ctx, siteId, urls) : await purgeHosts(tx, ctx, siteId, zoneId, urls);
    await tx.purge.create({ data: { siteId, type, urls, jobId: jobID, createdBy: ctx.actor.name } });
    return { jobID };
  });

async function purgeUrls(tx: ScopedTx, { actor }: Ctx, siteId: string, texts: string[]): Promise<string> {
  const read = readUrls(texts);
  const asked = [...new Set(read.flatMap((url) => (url === null ? [] : namesThat(url.hostname))))];
  const served = new Set(await enabledNames(tx, siteId, asked));
  const faults = read.flatMap((url, i) => {
    if (url === null) return [{ path: `urls.${i}`, rule: 'format', message: 'wrong format' }];
    if (namesThat(url.hostname).some((name) => served.has(name))) return [];
    return [{ path: `urls.${i}`, rule: 'domain', message: 'no enabled domain of this site' }];
  });
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });

  const urls = [...new Set(read.flatMap((url) => (url === null ? [] : [url.href])))];
  const title = titleOf(urls);
  return jobs.start(tx, { siteId, kind: 'purgeURLs', title, urls, createdBy: actor.name });
}

async function purgeHosts(tx: ScopedTx, { actor }: Ctx, siteId: string, zoneId: string, texts: string[]) {
  const names = texts.map((text) => text.toLowerCase());
  const served = new Set(await enabledNames(tx, siteId, names));
  const faults = names.flatMap((name, i) =>
    served.has(name) ? [] : [{ path: `urls.${i}`, rule: 'domain', message: 'no enabled domain of this site' }],
  );
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });

  await tx.domain.updateMany({
    where: { siteId, enabledName: { in: [...served] } },
    data: { cacheVersion: { increment: 1 } },
  });
  const docKeys = [...served].map(hostKey);
  const title = titleOf([...served]);
  await changed(tx, zoneId, ...docKeys);
  return jobs.start(tx, { siteId, kind: 'purgeHosts', title, docKeys, createdBy: actor.name });
}

async function enabledNames(tx: ScopedTx, siteId: string, names: string[]): Promise<string[]> {
  const where = { siteId, enabledName: { in: names } };
  const rows = await tx.domain.findMany({ where, select: { name: true } });
  return rows.map(({ name }) => name);
}

const titleOf = ([first = '', ...more]: string[]) =>
  more.length === 0 ? first.slice(0, 256) : `${first.slice(0, 240)} +${more.length}`;

export async function history({ db }: Ctx, siteId: string, paging: Paging<'createdAt'>) {
  await sites.own(db, siteId);
  const where = { siteId };
  const [rows, total] = await Promise.all([
    db.purge.findMany({ where, include: { job: { select: { state: true } } }, ...pageOf(paging) }),
    db.purge.count({ where }),
  ]);
  const data = rows.map(({ id, type, urls, job, jobId, createdBy, createdAt }) => ({
    id,
    type,
    urls,
    // A job that was cleared away had ended.
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
