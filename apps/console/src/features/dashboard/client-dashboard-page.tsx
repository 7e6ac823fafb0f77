import { clientSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { useEffect } from 'react';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { AllClear } from './all-clear.tsx';
import { hasNothingToWatch } from './first-steps-list.ts';
import { FirstSteps } from './first-steps.tsx';
import { Health } from './health.tsx';
import { Resources } from './resources.tsx';
import { TrafficDashboard } from './traffic-dashboard.tsx';

export function ClientDashboardPage() {
  const found = useEndpoint(clientSites.resources, {}, { pollMs: 30_000 });
  const { at, retry } = found;
  useEffect(() => {
    // Counts resources that were just added on another screen.
    if (at > 0) retry();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each visit
  }, []);
  const { data } = found;
  return (
    <TrafficDashboard
      first={<FirstSteps found={data} />}
      clear={<AllClear of={found} isEmpty={hasNothingToWatch} />}
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
