import { Id } from '@edgeloom/contract/common/common.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { lastZone } from '../../stores/session.ts';

/** Zone of the board: from the URL, the last one of this tab, or the first by name. */
export function useZone() {
  const [search, setSearch] = useSearchParams();
  const asked = search.get('zone') ?? lastZone.get();
  const [first, setFirst] = useState<string | null>(null);
  const wanted = asked !== null && Id.safeParse(asked).success ? asked : first;
  const choices = useMetaSearch(zones.meta, { chosen: wanted === null ? [] : [wanted] });
  const [shown] = choices.page;
  if (first === null && shown) setFirst(shown.value);
  const isKnown = choices.chosen.some(({ value }) => value === wanted);
  const zoneId = isKnown ? wanted : first;
  useEffect(() => {
    if (zoneId !== null && search.get('zone') === zoneId) lastZone.keep(zoneId);
  }, [zoneId, search]);
  return { zoneId, choices, setZone: (zone: string) => setSearch({ zone }) };
}
