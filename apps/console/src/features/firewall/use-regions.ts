import { firewall } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { useMemo } from 'react';
import { useLanguage } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** Names of regions in the console's language. */
export function useRegions() {
  const language = useLanguage();
  const { data } = useEndpoint(firewall.regions);
  return useMemo(() => {
    const all = data ? [...data.continents, ...data.countries, ...data.provinces] : [];
    const names = new Map(all.map(({ geoID, names: of }) => [geoID, of[language]]));
    return { nameOf: (geoID: string) => names.get(geoID) ?? geoID };
  }, [data, language]);
}
