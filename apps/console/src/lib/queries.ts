import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { QueryClient } from '@tanstack/react-query';

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
    },
  },
});

/** Made from the endpoint, so a page never writes one: everything of a feature is refreshed by its name. */
export const keyOf = (endpoint: Endpoint, sent: object | undefined) =>
  [endpoint.feature, endpoint.method, endpoint.path, sent ?? {}] as const;

/** Features whose rows are the same rows seen from another place. */
const kin: readonly (readonly string[])[] = [
  ['sites', 'clientSites', 'ownSites'],
  ['domains', 'domainUpstreams', 'clientDomains'],
  ['zones', 'zonePorts', 'sitePorts'],
  ['products', 'ownProducts'],
  ['purge', 'purgeSites', 'jobs'],
];

export async function refresh(features: readonly string[]) {
  const all = features.flatMap((feature) => kin.find((group) => group.includes(feature)) ?? [feature]);
  await Promise.all([...new Set(all)].map((feature) => queries.invalidateQueries({ queryKey: [feature] })));
}
