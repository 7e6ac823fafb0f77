import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { routes } from '../../http/bind.ts';
import { copyModules } from './copy-modules.service.ts';
import { copySettings } from './copy-settings.service.ts';

export const copiesRoutes = routes(copies, {
  settings: (ctx, { params, body }) => copySettings(ctx, params.siteId, body),
  modules:  (ctx, { params, body }) => copyModules(ctx, params, body),
});
