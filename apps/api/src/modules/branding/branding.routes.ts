import { branding, shownBranding } from '@edgeloom/contract/branding/branding.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './branding.service.ts';
import { shownAt } from './shown-branding.ts';

export const brandingRoutes = routes(branding, {
  list:   (ctx, { query }) => service.list(ctx, query),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});

export const shownBrandingRoutes = routes(shownBranding, {
  get: ({ installation, caller, mount }) => shownAt(installation.db, mount === 'admin' ? null : caller.host),
});
