import { zoneKeys } from '@edgeloom/contract/zone-keys/zone-keys.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './zone-keys.service.ts';

export const zoneKeysRoutes = routes(zoneKeys, {
  get:    (ctx, { params }) => service.get(ctx, params.zoneId),
  rotate: (ctx, { params, body }) => service.rotate(ctx, params.zoneId, body.reason),
});
