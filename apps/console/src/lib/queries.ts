import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { QueryClient } from '@tanstack/react-query';
import { useSession } from '../stores/session.ts';

const temporary = [502, 503, 504];

export const queries = new QueryClient({
  defaultOptions: {
    // A reader without a network is told so by the failure; what only waited for one would look as if it were true.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && temporary.includes(error.status),
      refetchOnWindowFocus: true,
      // Under `always` it is off by default: what failed for want of a network is loaded when the network is back.
      refetchOnReconnect: true,
    },
  },
});

// The end of a session drops the data of its account.
useSession.subscribe(({ account }, before) => {
  if (account === null && before.account !== null) queries.clear();
});

/** Made from the endpoint, so a page never writes one: everything of a feature is refreshed by its name. */
export const keyOf = (endpoint: Endpoint, sent: object | undefined) =>
  [endpoint.feature, endpoint.method, endpoint.path, sent ?? {}] as const;

/** An object as the newest answers have it, wherever in the feature it is shown. */
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

/** Features whose rows are the same rows seen from another place. */
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
