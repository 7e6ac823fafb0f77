import { zonePorts } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { IconPlug } from '@tabler/icons-react';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { PortForm, type Port } from './port-form.tsx';
import classes from './zones.module.css';

const columns: Column<Port>[] = [
  { key: 'port', render: ({ port }) => <b>{port}</b> },
  { key: 'tls', render: ({ tls }) => (tls ? 'HTTPS' : 'HTTP') },
  { key: 'createdAt', as: 'time' },
];
const removing = remove<Port, typeof zonePorts.remove>(zonePorts.remove, {
  refreshes: ['zones'],
  confirm: () => ({ points: [t('zonePorts.removePoint')] }),
});

export function PortsTab({ zoneId }: { zoneId: string }) {
  const t = useT();
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
