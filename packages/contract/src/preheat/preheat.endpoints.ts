import { onSites, post } from '../endpoint.ts';
import { JobStarted } from '../jobs/jobs.ts';
import { PreheatInput } from './preheat.ts';

export const preheat = onSites('preheat', {
  start: post('site/:siteId/preheat', { can: 'cache:write', body: PreheatInput, reply: JobStarted }),
});
