import { useSearchParams } from 'react-router-dom';
import { siteViews } from './site-views.ts';
import { NotFoundInside } from './not-found.tsx';

/** `sitesSetting/:siteId/:name?view=…`: the page of the site that the address names. */
export function SitePage() {
  const [search] = useSearchParams();
  const wanted = search.get('view') ?? 'overview';
  const view = siteViews.flatMap(({ views }) => views).find((one) => one.view === wanted);
  return view ? <view.component key={view.view} /> : <NotFoundInside />;
}
