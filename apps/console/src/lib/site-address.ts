import { sitePath } from '../components/frame/site-scope.ts';
import { family, to } from './family.ts';

interface Place {
  id: string;
  name: string;
}

/** Path of a site's page with its tab: `siteAddress(site, 'cache', 'purge')`. */
export const siteAddress = (site: Place, view = 'overview', tab?: string) =>
  `${to(sitePath(family, site, view))}${tab ? `&tab=${tab}` : ''}`;

/** Path of a domain's page. */
export const domainAddress = (site: Place, domainName: string) =>
  siteAddress(site, 'domains').replace('?', `/${encodeURIComponent(domainName)}?`);
