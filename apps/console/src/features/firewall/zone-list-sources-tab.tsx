import { zoneListSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { ListSourceForm } from './list-source-form.tsx';
import { ListSourcesTab } from './list-sources-tab.tsx';
import classes from './list-sources.module.css';

/** Subscribed lists for the visitors of all sites of a zone. */
export function ZoneListSourcesTab({ zoneId }: { zoneId: string }) {
  const t = useT();
  return (
    <>
      <p className={classes['about']}>{t('listSources.zoneWhy')}</p>
      <ListSourcesTab owner={{ zoneId }} create={<AddListSource zoneId={zoneId} />} />
    </>
  );
}

export function AddListSource({ zoneId }: { zoneId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(zoneListSources.create)) return null;
  return (
    <Button
      data-main-action
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<ListSourceForm owner={{ zoneId }} />, { title: 'firewall.add.source' })}
    >
      {t('firewall.add.source')}
    </Button>
  );
}
