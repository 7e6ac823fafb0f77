import { Link, useLocation } from 'react-router-dom';
import { family, to as inConsole } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { usePlace } from '../page/place.ts';
import { entryAt, type MenuGroup, type SiteViewGroup } from './menu.ts';
import { sitePath, useSiteView, type SiteInfo } from './site-scope.ts';
import classes from './frame.module.css';

interface BreadcrumbProps {
  menu: readonly MenuGroup[];
  views: readonly SiteViewGroup[];
  site: SiteInfo | null;
}
interface Crumb {
  text: string;
  to?: string;
}

/** Menu group or site, list, and name of the page. */
export function Breadcrumb({ menu, views, site }: BreadcrumbProps) {
  const t = useT();
  const { title, name } = usePlace();
  const { pathname } = useLocation();
  const current = useSiteView();
  const crumbs: Crumb[] = [];
  if (site) {
    const view = views.flatMap((group) => group.views).find((one) => one.view === current);
    crumbs.push({
      text: t('frame.sites'),
      to: inConsole(family === 'user' ? 'sitesManagement' : 'nodeManage/sitesList'),
    });
    crumbs.push({ text: site.name, to: inConsole(sitePath(family, site)) });
    if (view) crumbs.push({ text: t(view.title), to: inConsole(sitePath(family, site, view.view)) });
  } else {
    const found = entryAt(menu, pathname.slice(family.length + 2));
    if (found?.group.title) crumbs.push({ text: t(found.group.title) });
    if (found) crumbs.push({ text: t(found.entry.title), to: inConsole(found.entry.to) });
    else if (title) crumbs.push({ text: t(title) });
  }
  if (name) crumbs.push({ text: name });
  return (
    <nav className={classes['crumbs']} aria-label={t('frame.breadcrumb')}>
      <ol>
        {crumbs.map(({ text, to }, i) => (
          <li key={i}>
            {i === crumbs.length - 1 || to === undefined ? (
              <span aria-current={i === crumbs.length - 1 ? 'page' : undefined}>{text}</span>
            ) : (
              <Link to={to}>{text}</Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
