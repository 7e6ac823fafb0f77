import { ownSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { AllClear } from './all-clear.tsx';
import { Resources } from './resources.tsx';
import { TrafficDashboard } from './traffic-dashboard.tsx';

export function UserDashboardPage() {
  const found = useEndpoint(ownSites.resources, {}, { pollMs: 30_000 });
  const { data } = found;
  return (
    <TrafficDashboard
      clear={<AllClear of={found} isEmpty={({ sites }) => sites === 0} />}
      count={
        <Resources
          of={[
            { kind: 'sites', count: data?.sites, to: 'sitesManagement' },
            { kind: 'domains', count: data?.domains },
          ]}
        />
      }
    />
  );
}
