import { overview } from '@edgeloom/contract/overview/overview.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './overview.service.ts';

export const overviewRoutes = routes(overview, {
  get: (ctx) => service.get(ctx),
});
