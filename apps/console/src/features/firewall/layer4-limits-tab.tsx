import { layer4LimitConns } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { Layer4LimitConnInput } from '@edgeloom/contract/layer4-rules/layer4-rules.ts';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { RulePort } from './layer4-rule-port.tsx';

type LimitConn = RowOf<typeof layer4LimitConns.list>;
interface FormProps {
  siteId: string;
  value?: LimitConn;
}

/** `delay` has no field, since nodes ignore it. A stored one is kept. */
export function Layer4LimitConnForm({ siteId, value }: FormProps) {
  return (
    <ResourceForm
      create={layer4LimitConns.create}
      update={layer4LimitConns.update}
      params={{ siteId }}
      value={value}
      schema={Layer4LimitConnInput}
      words="layer4LimitConns"
      wrap={(body) => (value ? { id: value.id, ...body } : body)}
    >
      <NumberField name="port" plain />
      <NumberField name="max" min={1} />
      <NumberField name="burst" min={0} />
      <SwitchField name="enabled" />
    </ResourceForm>
  );
}

/** How many connections one visitor may have open at the site's forwards. */
export function Layer4LimitsTab({ siteId, create }: { siteId: string; create: React.ReactNode }) {
  const t = useT();
  const columns: Column<LimitConn>[] = [
    {
      key: 'port',
      sort: false,
      render: (limit) => <RulePort of={limit} notForwarded={t('layer4LimitConns.notForwarded')} />,
      text: ({ port }) => String(port),
    },
    { key: 'max', sort: false, align: 'right', render: ({ max }) => count(max), text: ({ max }) => String(max) },
    {
      key: 'burst',
      sort: false,
      align: 'right',
      render: ({ burst }) => count(burst),
      text: ({ burst }) => String(burst),
    },
    {
      key: 'enabled',
      title: 'common.fields.status',
      sort: false,
      render: (limit) => <State of={limit} />,
      text: ({ enabled }) => String(enabled),
    },
    { key: 'updatedAt', as: 'time', priority: 3 },
  ];
  const removing = remove<LimitConn, typeof layer4LimitConns.remove>(layer4LimitConns.remove);
  return (
    <ResourceTable
      endpoint={layer4LimitConns.list}
      params={{ siteId }}
      columns={columns}
      caption="firewall.tabs.layer4LimitConns"
      row={(limit) => [
        edit(<Layer4LimitConnForm siteId={siteId} value={limit} />, { can: layer4LimitConns.update.can }),
        removing,
      ]}
      bulk={[removing]}
      phone={(limit) => ({
        below: t('layer4LimitConns.summary', { max: count(limit.max), burst: count(limit.burst) }),
        end: <State of={limit} />,
      })}
      empty={{ icon: IconPlugConnectedX, action: create }}
    />
  );
}

function State({ of: { enabled } }: { of: LimitConn }) {
  const t = useT();
  return enabled ? <Pill tone="ok">{t('common.on')}</Pill> : <Pill tone="off">{t('common.off')}</Pill>;
}
