import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { QueryClient } from '@tanstack/react-query';
import { useSession } from '../stores/session.ts';

const temporary = [502, 503, 504];

export const queries = new QueryClient({
  defaultOptions: {
    // Offline, calls must fail at once; a paused call would look pending.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && temporary.includes(error.status),
      refetchOnWindowFocus: true,
      // `networkMode: 'always'` disables this by default. Failed queries reload when the network returns.
      refetchOnReconnect: true,
    },
  },
});

// Signing out drops the account's data.
useSession.subscribe(({ account }, before) => {
  if (account === null && before.account !== null) queries.clear();
});

/** Query key of an endpoint. The feature's name comes first, for invalidation. */
export const keyOf = (endpoint: Endpoint, sent: object | undefined) =>
  [endpoint.feature, endpoint.method, endpoint.path, sent ?? {}] as const;

/** An object from the newest cached response of any query of the feature. */
export function freshOf(feature: string, id: string): object | null {
  const features = kin.find((group) => group.includes(feature)) ?? [feature];
  const answers = features.flatMap((name) => queries.getQueryCache().findAll({ queryKey: [name], type: 'active' }));
  const objects = answers
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
    .flatMap(({ state }) => (hasRows(state.data) ? state.data.data : [state.data]));
  const isIt = (found: unknown): found is object =>
    typeof found === 'object' && found !== null && 'id' in found && found.id === id;
  return objects.find(isIt) ?? null;
}
const hasRows = (data: unknown): data is { data: unknown[] } =>
  typeof data === 'object' && data !== null && 'data' in data && Array.isArray(data.data);

/** Features that show the same rows. */
const kin: readonly (readonly string[])[] = [
  ['sites', 'clientSites', 'ownSites'],
  ['domains', 'domainUpstreams', 'clientDomains'],
  ['zones', 'zonePorts', 'sitePorts'],
  ['certificates', 'autoCertificates'],
  ['products', 'ownProducts'],
  ['purge', 'purgeSites', 'jobs'],
  ['accounts', 'siteUsers', 'clientZones'],
  ['rollouts', 'upgrades', 'nodes'],
];

export const areKin = (one: string, other: string) =>
  one === other || kin.some((group) => group.includes(one) && group.includes(other));

export async function refresh(features: readonly string[]) {
  const all = features.flatMap((feature) => kin.find((group) => group.includes(feature)) ?? [feature]);
  await Promise.all([...new Set(all)].map((feature) => queries.invalidateQueries({ queryKey: [feature] })));
}
