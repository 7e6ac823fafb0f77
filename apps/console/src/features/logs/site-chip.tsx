import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { FilterChip } from './filter-chip.tsx';

interface SiteChipProps {
  siteIDs: readonly string[] | undefined;
  onChange: (siteIDs: readonly string[]) => void;
}

/** The sites that the URL selects. Absent if it selects none. */
export function SiteChip({ siteIDs, onChange }: SiteChipProps) {
  if (siteIDs === undefined) return null;
  return (
    <FilterChip
      filter={{ key: 'siteIDs', meta: sites.meta }}
      isNot={false}
      values={siteIDs}
      startOpen={false}
      onChange={onChange}
      onNegate={() => undefined}
      onClose={() => undefined}
      onRemove={() => onChange([])}
    />
  );
}
