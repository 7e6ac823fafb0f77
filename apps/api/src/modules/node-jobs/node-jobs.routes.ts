import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './node-jobs.service.ts';
import { info } from './node-setup.service.ts';

export const nodeJobsRoutes = routes(nodeJobs, {
  initialize: (ctx, { body }) => service.start(ctx, 'install', body.ids, body.keepSSH),
  uninstall:  (ctx, { body }) => service.start(ctx, 'uninstall', body.ids, false),
  hostKey:    (ctx, { body }) => service.hostKey(ctx, body),
  info:       (ctx, { query }) => info(ctx, query.nodeID),
  list:   (ctx, { params, query }) => service.list(ctx, params.nodeID, query),
  get:    (ctx, { params }) => service.get(ctx, params),
  events: (ctx, { params }) => service.events(ctx, params),
  retry:  (ctx, { params }) => service.retry(ctx, params),
  cancel: (ctx, { params }) => service.cancel(ctx, params),
});
