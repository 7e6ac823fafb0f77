import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Button } from '@mantine/core';
import { IconMapPins, IconPlus } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { ZoneForm } from '../zones/zone-form.tsx';

/** Shown on pages about one zone when there is none. */
export function NoZone() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  return (
    <EmptyState
      icon={IconMapPins}
      title={t('zones.empty.title')}
      text={t('zones.empty.text')}
      action={
        can(zones.create) && (
          <Button
            leftSection={<IconPlus size={15} stroke={1.8} />}
            onClick={() => overlay(<ZoneForm />, { title: 'zones.create' })}
          >
            {t('zones.create')}
          </Button>
        )
      }
    />
  );
}
