import { useSite } from '../../components/frame/site-scope.ts';
import { Page, useTab } from '../../components/page/page.tsx';
import { CrawlersTab } from './crawlers-tab.tsx';
import { RobotsTab } from './robots-tab.tsx';

const tabs = [
  { value: 'rules', label: 'crawlers.tabs.rules' },
  { value: 'robots', label: 'crawlers.tabs.robots' },
] as const;

/** Rules for crawlers, and the robots.txt of the site. */
export function CrawlersPage() {
  const params = { siteId: useSite().id };
  const tab = useTab(tabs);
  return (
    <Page title="crawlers.title" tabs={tabs}>
      {tab === 'rules' ? <CrawlersTab params={params} /> : <RobotsTab params={params} />}
    </Page>
  );
}
