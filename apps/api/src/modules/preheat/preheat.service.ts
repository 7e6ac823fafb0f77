import type { Ctx } from '../../core/ctx.ts';
import * as jobs from '../jobs/jobs.service.ts';
import * as purge from '../purge/purge.service.ts';
import * as sites from '../sites/sites.service.ts';

/** Every node fetches the URLs as a visitor would, so that the first of them finds them stored. */
export const start = ({ db, actor }: Ctx, siteId: string, texts: string[]) =>
  db.$transaction(async (tx) => {
    await sites.own(tx, siteId);
    const urls = [...new Set((await purge.ownUrls({ tx, siteId, texts })).map(({ href }) => href))];
    const title = purge.titleOf(urls);
    return { jobID: await jobs.start(tx, { siteId, kind: 'preheat', title, urls, createdBy: actor.name }) };
  });
