import { groups } from '@edgeloom/contract/all.ts';
import { system } from '@edgeloom/contract/system/system.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { openapi } from '../../http/openapi.ts';
import { checkHealth, type Checks } from './health.ts';
import { readMetrics } from './metrics.ts';

export const systemRoutes = (checks: Checks) => {
  let document: ReturnType<typeof openapi> | undefined;
  return routes(system, {
    health:  () => checkHealth(checks),
    openapi: async () => (document ??= openapi(groups)),
    metrics: (ctx) => readMetrics(ctx, checks),
  });
};
