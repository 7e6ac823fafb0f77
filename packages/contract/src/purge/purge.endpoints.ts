import * as z from 'zod';
import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, onSites } from '../endpoint.ts';
import { JobStarted } from '../jobs/jobs.ts';
import { SiteIDs } from '../sites/sites.ts';
import { PurgeInput, PurgeRow, Softly } from './purge.ts';

export const purge = onSites('purge', {
  all:        del('site/:siteId/setting/currentCache', { can: 'cache:write', query: Softly, reply: JobStarted }),
  urls:       del('site/:siteId/setting/urlCache', { can: 'cache:write', body: PurgeInput, reply: JobStarted }),
  history:    get('site/:siteId/setting/urlCache', { can: 'cache:read', query: paging(['createdAt']), reply: paged(PurgeRow) }),
  removeRows: del('site/:siteId/setting/urlCache/rows', { can: 'cache:write', body: Ids, reply: Ids }),
});

/** An operator purges whole sites of its customers. */
export const purgeSites = onClient('purgeSites', {
  all: del('site/currentCache', { can: 'cache:write', body: SiteIDs.extend(Softly.shape), reply: z.object({ jobIDs: z.array(z.string()) }) }),
});
