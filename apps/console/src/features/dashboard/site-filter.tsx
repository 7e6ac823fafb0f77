import { Button, Popover } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import type { DashboardState } from './use-dashboard.ts';

// The list with its search is a tenth of the dashboard's script, and few readers open it.
const SiteSelect = lazy(async () => ({ default: (await import('./site-select.tsx')).SiteSelect }));

/** The site that the dashboard is about. */
export function SiteFilter({ state }: { state: DashboardState }) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const { site } = state;
  const { chosen } = useMetaSearch(sites.meta, {
    chosen: site === undefined ? [] : [site],
    enabled: site !== undefined,
  });
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={280} trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconFilter size={15} stroke={1.6} />}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {site === undefined ? t('frame.allSites') : (chosen[0]?.label ?? '…')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('dashboard.site')}>
        <Suspense>
          <SiteSelect
            site={site}
            onChange={(id) => {
              state.setSite(id);
              setOpened(false);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
