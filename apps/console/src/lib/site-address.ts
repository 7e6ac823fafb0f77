import { family, to } from './family.ts';

interface Place {
  id: string;
  name: string;
}
const root = family === 'client' ? 'nodeManage/sitesSetting' : 'sitesManagement/sitesSetting';

/** A view of a site's scope: `siteAddress(site, 'cache')`, `siteAddress(site, 'cache', 'purge')`. */
export const siteAddress = ({ id, name }: Place, view = 'overview', tab?: string) =>
  `${to(root)}/${id}/${encodeURIComponent(name)}?${new URLSearchParams({ view, ...(tab && { tab }) })}`;

/** The page of one of its domains. */
export const domainAddress = ({ id, name }: Place, domainName: string) =>
  `${to(root)}/${id}/${encodeURIComponent(name)}/${encodeURIComponent(domainName)}`;
