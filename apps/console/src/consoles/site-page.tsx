import { useParams } from 'react-router-dom';
import { CommonAction } from '../components/page/page.tsx';
import { useSiteView } from '../components/frame/site-scope.ts';
import { TryRequest } from '../features/simulate/try-request.tsx';
import { NotFoundInside } from './not-found.tsx';
import { domainPage, siteViews } from './site-views.ts';

const views = siteViews.flatMap((group) => group.views);

/** `sitesSetting/:siteId/:name?view=…`: a page of the site in the URL. Requests can be simulated beside rules. */
export function SitePage() {
  const { domainName } = useParams();
  const wanted = useSiteView();
  const found = views.find(({ view }) => view === wanted);
  const Content = domainName === undefined ? found?.component : domainPage;
  if (!Content) return <NotFoundInside />;
  return (
    <CommonAction value={domainName !== undefined || found?.canSimulate ? <TryRequest /> : null}>
      <Content key={domainName ?? wanted} />
    </CommonAction>
  );
}
