import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Text } from '@edgeloom/contract/common/common.ts';
import { IconPlug, IconTrash } from '@tabler/icons-react';
import * as z from 'zod';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { act, edit } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useT } from '../../lib/i18n.ts';
import { PortsPreview } from '../zone-settings/change-preview';
import { PortForm, type Port } from './port-form.tsx';
import classes from './zones.module.css';

const columns: Column<Port>[] = [
  { key: 'port', ordered: 'asc', render: ({ port }) => <b>{port}</b> },
  { key: 'tls', render: ({ tls }) => (tls ? 'HTTPS' : 'HTTP') },
  { key: 'createdAt', as: 'time' },
];

export function PortsTab({ zoneId }: { zoneId: string }) {
  const t = useT();
  const overlay = useOverlay();
  const removing = act<Port>({
    label: 'common.remove',
    icon: IconTrash,
    danger: true,
    can: zonePorts.remove.can,
    run: (ports) =>
      overlay(<RemoveForm zoneId={zoneId} ports={ports} />, {
        title: { text: t('zonePorts.removeTitle', { count: ports.length }) },
      }),
  });
  return (
    <>
      <p className={classes['note']}>{t('zonePorts.why')}</p>
      <ResourceTable
        endpoint={zonePorts.list}
        params={{ zoneId }}
        columns={columns}
        caption="zonePorts.title"
        counted={() => null}
        row={(port) => [
          edit(<PortForm zoneId={zoneId} value={port} />, { title: 'zonePorts.edit', can: zonePorts.update.can }),
          removing,
        ]}
        bulk={[removing]}
        empty={{ icon: IconPlug }}
      />
    </>
  );
}

const Why = z.object({ reason: Text });

/** Effect on visitors and a reason, which the zone's history stores. */
function RemoveForm({ zoneId, ports }: { zoneId: string; ports: readonly Port[] }) {
  const t = useT();
  return (
    <ResourceForm
      create={zonePorts.remove}
      params={{ zoneId }}
      schema={Why}
      initial={{ reason: '' }}
      wrap={(values) => ({ ...values, ids: ports.map(({ id }) => id) })}
      refreshes={['zones']}
      submitLabel="common.remove"
      done="common.removed"
    >
      <p className={classes['removed']}>
        <b>{ports.map(({ port }) => port).join(t('common.comma'))}</b>
        {t('common.colon')}
        {t('zonePorts.removePoint')}
      </p>
      <TextField name="reason" />
      <PortsPreview zoneId={zoneId} change={(all) => all.filter(({ id }) => ports.every((port) => port.id !== id))} />
    </ResourceForm>
  );
}
