import { paged, paging } from '../common/common.ts';
import { get, onSites } from '../endpoint.ts';
import { Job, JobWithReceipts } from './jobs.ts';

export const jobs = onSites('jobs', {
  list: get('site/:siteId/jobs', { can: 'site:read', query: paging(['createdAt']), reply: paged(Job) }),
  get:  get('site/:siteId/job/:jobID', { can: 'site:read', reply: JobWithReceipts }),
});
