import { timingSafeEqual } from 'node:crypto';
import { groups } from '@edgeloom/contract/all.ts';
import { system } from '@edgeloom/contract/system/system.endpoints.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { registry } from '../../core/metrics.ts';
import { routes } from '../../http/bind.ts';
import { openapi } from '../../http/openapi.ts';
import { checkHealth, type Checks } from './health.ts';

export const systemRoutes = (checks: Checks) => {
  let document: ReturnType<typeof openapi> | undefined;
  return routes(system, {
    health:  () => checkHealth(checks),
    openapi: async () => (document ??= openapi(groups)),
    metrics: async (ctx) => metrics(ctx),
  });
};

function metrics({ caller, installation }: Ctx) {
  const right = installation.env.METRICS_TOKEN ?? fail('INVALID_TOKEN');
  const given = caller.bearer ?? '';
  if (given.length !== right.length || !timingSafeEqual(Buffer.from(given), Buffer.from(right))) fail('INVALID_TOKEN');
  return registry.metrics();
}
