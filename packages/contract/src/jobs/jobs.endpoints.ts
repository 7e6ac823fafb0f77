import * as z from 'zod';
import { paged, paging } from '../common/common.ts';
import { get, onSites } from '../endpoint.ts';
import { Job, JobKind, JobState, JobWithReceipts } from './jobs.ts';

export const jobs = onSites('jobs', {
  list: get('site/:siteId/jobs', { can: 'site:read', query: paging(['createdAt']).extend({ kind: z.array(JobKind).max(8).optional(), state: z.array(JobState).max(3).optional(), recent: z.boolean().optional().describe('Ended within the last 24 hours') }), reply: paged(Job) }),
  get:  get('site/:siteId/job/:jobID', { can: 'site:read', reply: JobWithReceipts }),
});
