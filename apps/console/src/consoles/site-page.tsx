import { useParams } from 'react-router-dom';
import { useSiteView } from '../components/frame/site-scope.ts';
import { NotFoundInside } from './not-found.tsx';
import { domainPage, siteViews } from './site-views.ts';

const views = siteViews.flatMap((group) => group.views);

/** `sitesSetting/:siteId/:name?view=…`: a page of the site in the URL. */
export function SitePage() {
  const { domainName } = useParams();
  const wanted = useSiteView();
  const Content = domainName === undefined ? views.find(({ view }) => view === wanted)?.component : domainPage;
  return Content ? <Content key={domainName ?? wanted} /> : <NotFoundInside />;
}
