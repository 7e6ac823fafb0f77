import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './jobs.service.ts';

export const jobsRoutes = routes(jobs, {
  list: (ctx, { params, query }) => service.list(ctx, params.siteId, query),
  get:  (ctx, { params }) => service.get(ctx, params.siteId, params.jobID),
});
