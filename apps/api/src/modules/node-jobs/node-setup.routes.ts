import { nodeSetup } from '@edgeloom/contract/node-jobs/node-setup.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { installScript } from '../../install/pull.ts';
import * as service from './node-setup.service.ts';

export const nodeSetupRoutes = routes(nodeSetup, {
  script:   async ({ installation }) => installScript(installation.env),
  setup:    (ctx, { query }) => service.setup(ctx, query),
  artifact: (ctx, { params }) => service.artifact(ctx, params.name),
});
