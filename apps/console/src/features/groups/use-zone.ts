import { useSearchParams } from 'react-router-dom';

/** Which zone a board is about: as the address says, or the first. */
export function useZone(zones: readonly string[]): [string | null, (zoneId: string) => void] {
  const [search, setSearch] = useSearchParams();
  const asked = search.get('zone');
  const zoneId = asked !== null && zones.includes(asked) ? asked : (zones[0] ?? null);
  return [zoneId, (zone) => setSearch({ zone })];
}
