import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { createContext, useContext } from 'react';
import { useParams, useSearchParams } from 'react-router-dom';
import { family } from '../../lib/family.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';

export type SiteInfo = Received<typeof sites.get>;

export const SiteContext = createContext<SiteInfo | null>(null);

/** The site of the current page. */
export function useSite(): SiteInfo {
  const site = useContext(SiteContext);
  if (!site) throw new Error('This page stands in the scope of a site');
  return site;
}

export const useSiteId = () => useRouteParams('siteId').siteId;

/** The view named by the URL. A domain's page belongs to the domains view. */
export function useSiteView() {
  const { domainName } = useParams();
  const [search] = useSearchParams();
  return domainName === undefined ? (search.get('view') ?? 'overview') : 'domains';
}

/** Path of the list of sites in this console. */
export const sitesList = family === 'user' ? 'sitesManagement' : 'nodeManage/sitesList';

/** Path of a site in a console; `view` is one of its pages. */
export const sitePath = (family: string, site: { id: string; name: string }, view = 'overview') =>
  `${family === 'user' ? 'sitesManagement' : 'nodeManage'}/sitesSetting/${site.id}/${encodeURIComponent(site.name)}?view=${view}`;
