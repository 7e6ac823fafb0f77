import { get, onSites } from '../endpoint.ts';
import { SiteSettings } from './site-settings.ts';

export const siteSettings = onSites('siteSettings', {
  get: get('site/:siteId/settings', { can: 'site:read', reply: SiteSettings }),
});
