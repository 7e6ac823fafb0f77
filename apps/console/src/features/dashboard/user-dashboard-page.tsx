import { ownSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Resources } from './resources.tsx';
import { TrafficDashboard } from './traffic-dashboard.tsx';

export function UserDashboardPage() {
  const { data } = useEndpoint(ownSites.resources, {}, { pollMs: 30_000 });
  return (
    <TrafficDashboard
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
