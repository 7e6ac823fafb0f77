import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import { ownSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { Page } from '../../components/page/page.tsx';
import { FailedState } from '../../components/states/states.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { RangeControl } from '../../components/chart/range.tsx';
import { useCan } from '../../lib/use-can.ts';
import { Attention } from './attention.tsx';
import { DashboardCharts } from './dashboard-charts.tsx';
import { Figures } from './figures.tsx';

export function UserDashboardPage() {
  const can = useCan();
  const resources = useEndpoint(ownSites.resources, {}, { pollMs: 30_000 });
  return (
    <Page title="dashboard.title" actions={can(charts.get) && <RangeControl />}>
      {resources.error !== null && resources.data === undefined ? (
        <FailedState error={resources.error} retry={resources.retry} />
      ) : (
        <Figures
          figures={[
            { title: 'dashboard.figures.sites', value: resources.data?.sites, to: 'sitesManagement' },
            { title: 'dashboard.figures.domains', value: resources.data?.domains },
            { title: 'dashboard.figures.enabledDomains', value: resources.data?.enabledDomains },
            { title: 'dashboard.figures.cacheRules', value: resources.data?.cacheRules },
          ]}
        />
      )}
      <DashboardCharts beside={<Attention />} />
    </Page>
  );
}
