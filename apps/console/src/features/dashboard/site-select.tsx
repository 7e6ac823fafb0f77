import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { MetaSelect } from '../../components/fields/meta-select.tsx';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';

interface SiteSelectProps {
  site: string | undefined;
  onChange: (id: string | null) => void;
}

export function SiteSelect({ site, onChange }: SiteSelectProps) {
  const t = useT();
  const found = useMetaSearch(sites.meta, { chosen: site === undefined ? [] : [site] });
  return (
    <MetaSelect
      label={t('dashboard.site')}
      placeholder={t('frame.allSites')}
      clearable
      choices={found}
      value={site ?? null}
      comboboxProps={{ withinPortal: false }}
      onChange={onChange}
    />
  );
}
