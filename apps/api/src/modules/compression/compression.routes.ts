import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './compression.service.ts';

export const compressionRoutes = routes(compression, {
  get:    (ctx, { params }) => service.get(ctx, params.siteId),
  update: (ctx, { params, body }) => service.update(ctx, params.siteId, body),
});
