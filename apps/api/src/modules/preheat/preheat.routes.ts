import { preheat } from '@edgeloom/contract/preheat/preheat.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './preheat.service.ts';

export const preheatRoutes = routes(preheat, {
  start: (ctx, { params, body }) => service.start(ctx, params.siteId, body.urls),
});
