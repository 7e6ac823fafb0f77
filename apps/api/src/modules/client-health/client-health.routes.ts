import { clientHealth } from '@edgeloom/contract/client-health/client-health.endpoints.ts';
import { routes } from '../../http/bind.ts';
import type { Checks } from '../system/health.ts';
import * as service from './client-health.service.ts';

export const clientHealthRoutes = (checks: Checks) =>
  routes(clientHealth, {
    get: (ctx) => service.get(ctx, checks),
  });
