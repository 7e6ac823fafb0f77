import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { clientDomains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Page } from '../../components/page/page.tsx';
import { FailedState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { RangeControl } from '../../components/chart/range.tsx';
import { Attention } from './attention.tsx';
import { DashboardCharts } from './dashboard-charts.tsx';
import { Figures, Panel } from './figures.tsx';
import { Health } from './health.tsx';

const one = { query: { page: 1, pageSize: 1 } } as const;
const unwell = {
  query: { page: 1, pageSize: 1, status: ['offline', 'rejected', 'natsError', 'reconnecting'] },
} as const;

export function ClientDashboardPage() {
  const t = useT();
  const can = useCan();
  const poll = (endpoint: Parameters<typeof can>[0]) => ({ enabled: can(endpoint), pollMs: 30_000 });
  const totals = {
    zones: useEndpoint(zones.list, one, poll(zones.list)),
    nodes: useEndpoint(nodes.list, one, poll(nodes.list)),
    products: useEndpoint(products.list, one, poll(products.list)),
    sites: useEndpoint(clientSites.list, one, poll(clientSites.list)),
    domains: useEndpoint(clientDomains.list, one, poll(clientDomains.list)),
  };
  const bad = useEndpoint(
    nodes.list,
    { query: { ...unwell.query, status: [...unwell.query.status] } },
    poll(nodes.list),
  );
  const failed = Object.values(totals).find(({ error, data }) => error !== null && data === undefined);
  const nodesBad = bad.data?.total ?? 0;
  return (
    <Page title="dashboard.title" actions={can(charts.get) && <RangeControl />}>
      {failed ? (
        <FailedState error={failed.error} retry={failed.retry} />
      ) : (
        <Figures
          figures={[
            { title: 'dashboard.figures.zones', value: totals.zones.data?.total, to: 'nodeManage/zonesList' },
            { title: 'dashboard.figures.nodes', value: totals.nodes.data?.total, to: 'nodeManage/nodesList' },
            { title: 'dashboard.figures.products', value: totals.products.data?.total, to: 'nodeManage/productsList' },
            { title: 'dashboard.figures.sites', value: totals.sites.data?.total, to: 'nodeManage/sitesList' },
            { title: 'dashboard.figures.domains', value: totals.domains.data?.total, to: 'nodeManage/domains' },
          ]}
        />
      )}
      <DashboardCharts
        beside={
          <Panel title="dashboard.attention">
            <Attention
              items={
                nodesBad > 0
                  ? [
                      {
                        tone: 'bad',
                        text: t('dashboard.nodesNotServing', { count: nodesBad }),
                        to: 'nodeManage/nodesList?status=offline,rejected,natsError,reconnecting',
                      },
                    ]
                  : []
              }
            />
          </Panel>
        }
      />
      <Health />
    </Page>
  );
}
