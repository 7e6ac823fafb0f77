import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { Page } from '../../components/page/page.tsx';
import { FailedState } from '../../components/states/states.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { RangeControl } from '../../components/chart/range.tsx';
import { Attention } from './attention.tsx';
import { DashboardCharts } from './dashboard-charts.tsx';
import { Figures } from './figures.tsx';
import { Health } from './health.tsx';

export function ClientDashboardPage() {
  const can = useCan();
  const totals = useEndpoint(clientSites.resources, {}, { pollMs: 30_000 });
  return (
    <Page title="dashboard.title" actions={can(charts.get) && <RangeControl />}>
      {totals.error !== null && totals.data === undefined ? (
        <FailedState error={totals.error} retry={totals.retry} />
      ) : (
        <Figures
          figures={[
            { title: 'dashboard.figures.zones', value: totals.data?.zones, to: 'nodeManage/zonesList' },
            { title: 'dashboard.figures.nodes', value: totals.data?.nodes, to: 'nodeManage/nodesList' },
            { title: 'dashboard.figures.products', value: totals.data?.products, to: 'nodeManage/productsList' },
            { title: 'dashboard.figures.sites', value: totals.data?.sites, to: 'nodeManage/sitesList' },
            { title: 'dashboard.figures.domains', value: totals.data?.domains, to: 'nodeManage/domains' },
          ]}
        />
      )}
      <DashboardCharts beside={<Attention />} />
      <Health />
    </Page>
  );
}
