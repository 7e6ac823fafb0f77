import { sitePath } from '../components/frame/site-scope.ts';
import { family, to } from './family.ts';

interface Place {
  id: string;
  name: string;
}

/** A page of a site's scope, with its tab: `siteAddress(site, 'cache', 'purge')`. */
export const siteAddress = (site: Place, view = 'overview', tab?: string) =>
  `${to(sitePath(family, site, view))}${tab ? `&tab=${tab}` : ''}`;

/** The page of one of a site's domains. */
export const domainAddress = (site: Place, domainName: string) =>
  siteAddress(site, 'domains').replace('?', `/${encodeURIComponent(domainName)}?`);
