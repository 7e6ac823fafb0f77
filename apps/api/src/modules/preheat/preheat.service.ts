import type { Ctx } from '../../core/ctx.ts';
import * as jobs from '../jobs/jobs.service.ts';
import * as purge from '../purge/purge.service.ts';
import * as sites from '../sites/sites.service.ts';

/** Every node requests the URLs once, so that visitors find them cached. */
export const start = ({ db, actor }: Ctx, siteId: string, texts: string[]) =>
  db.$transaction(async (tx) => {
    await sites.own(tx, siteId);
    const urls = [...new Set((await purge.ownUrls({ tx, siteId, texts })).map(({ href }) => href))];
    const title = purge.titleOf(urls);
    return { jobID: await jobs.start(tx, { siteId, kind: 'preheat', title, urls, createdBy: actor.name }) };
  });
