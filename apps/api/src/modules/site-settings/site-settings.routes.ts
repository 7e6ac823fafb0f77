import { siteSettings as endpoints } from '@edgeloom/contract/site-settings/site-settings.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as siteSettings from './site-settings.service.ts';

export const siteSettingsRoutes = routes(endpoints, {
  get: (ctx, { params }) => siteSettings.get(ctx, params.siteId),
});
