import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { CrawlersTab } from './crawlers-tab.tsx';

/** Rules for crawlers of the site. */
export function CrawlersPage() {
  return (
    <Page title="crawlers.title">
      <CrawlersTab params={{ siteId: useSite().id }} />
    </Page>
  );
}
