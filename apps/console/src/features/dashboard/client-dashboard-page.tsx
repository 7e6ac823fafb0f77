import { clientSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Health } from './health.tsx';
import { Resources } from './resources.tsx';
import { TrafficDashboard } from './traffic-dashboard.tsx';

export function ClientDashboardPage() {
  const { data } = useEndpoint(clientSites.resources, {}, { pollMs: 30_000 });
  return (
    <TrafficDashboard
      count={
        <Resources
          of={[
            { kind: 'zones', count: data?.zones, to: 'nodeManage/zonesList' },
            { kind: 'nodes', count: data?.nodes, to: 'nodeManage/nodesList' },
            { kind: 'products', count: data?.products, to: 'nodeManage/productsList' },
            { kind: 'sites', count: data?.sites, to: 'nodeManage/sitesList' },
            { kind: 'domains', count: data?.domains, to: 'nodeManage/domains' },
          ]}
        />
      }
    >
      <Health />
    </TrafficDashboard>
  );
}
