import { Id } from '@edgeloom/contract/common/common.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { useMetaSearch } from '../../lib/use-meta.ts';

/** Which zone a page is about: as the address says, or the first by name. */
export function useZone() {
  const [search, setSearch] = useSearchParams();
  const asked = search.get('zone');
  const [first, setFirst] = useState<string | null>(null);
  const wanted = asked !== null && Id.safeParse(asked).success ? asked : first;
  const choices = useMetaSearch(zones.meta, { chosen: wanted === null ? [] : [wanted] });
  const [shown] = choices.page;
  if (first === null && shown) setFirst(shown.value);
  const isKnown = choices.chosen.some(({ value }) => value === wanted);
  return { zoneId: isKnown ? wanted : first, choices, setZone: (zone: string) => setSearch({ zone }) };
}
