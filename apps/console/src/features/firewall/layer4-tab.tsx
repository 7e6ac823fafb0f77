import { layer4Blacklists, layer4Whitelists } from '@edgeloom/contract/layer4-lists/layer4-lists.endpoints.ts';
import { Layer4ListInput } from '@edgeloom/contract/layer4-lists/layer4-lists.ts';
import { IconBan, IconShieldCheck } from '@tabler/icons-react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';

type Layer4List = RowOf<typeof layer4Blacklists.list>;
interface FormProps {
  siteId: string;
  isBlack: boolean;
  value?: Layer4List;
}

export function Layer4ListForm({ siteId, isBlack, value }: FormProps) {
  const calls = isBlack ? layer4Blacklists : layer4Whitelists;
  return (
    <ResourceForm
      create={calls.create}
      update={calls.update}
      params={{ siteId }}
      value={value}
      initial={{ ips: [] }}
      schema={Layer4ListInput}
      words="layer4Lists"
      wrap={(body) => (value ? { id: value.id, ...body } : body)}
    >
      <LinesField name="ips" whole placeholder={'203.0.113.7\n2001:db8::/32\n192.0.2.1-192.0.2.9'} rows={10} />
      <TextField name="memo" />
      <SwitchField name="enabled" />
    </ResourceForm>
  );
}

/** Lists of addresses for the site's port forwards. */
export function Layer4Tab({ siteId, isBlack, create }: FormProps & { create: React.ReactNode }) {
  const calls = isBlack ? layer4Blacklists : layer4Whitelists;
  const columns: Column<Layer4List>[] = [
    {
      key: 'ips',
      title: 'firewall.fields.ips',
      sort: false,
      flexible: true,
      render: ({ ips }) => `${ips.slice(0, 3).join(', ')}${ips.length > 3 ? ` +${count(ips.length - 3)}` : ''}`,
      text: ({ ips }) => ips.join(', '),
    },
    { key: 'memo', sort: false, title: 'common.fields.memo' },
    {
      key: 'enabled',
      title: 'common.fields.status',
      sort: false,
      render: (list) => <State of={list} />,
      text: ({ enabled }) => String(enabled),
    },
    { key: 'updatedAt', as: 'time', priority: 3 },
  ];
  const removing = isBlack
    ? remove<Layer4List, typeof layer4Blacklists.remove>(layer4Blacklists.remove)
    : remove<Layer4List, typeof layer4Whitelists.remove>(layer4Whitelists.remove);
  return (
    <ResourceTable
      endpoint={calls.list}
      params={{ siteId }}
      columns={columns}
      search="keyword"
      caption={isBlack ? 'firewall.tabs.layer4Black' : 'firewall.tabs.layer4White'}
      row={(list) => [
        edit(<Layer4ListForm siteId={siteId} isBlack={isBlack} value={list} />, { can: calls.update.can }),
        removing,
      ]}
      bulk={[removing]}
      phone={(list) => ({ below: list.memo, end: <State of={list} /> })}
      empty={{ icon: isBlack ? IconBan : IconShieldCheck, action: create }}
    />
  );
}

function State({ of: { enabled } }: { of: Layer4List }) {
  const t = useT();
  return enabled ? <Pill tone="ok">{t('common.on')}</Pill> : <Pill tone="off">{t('common.off')}</Pill>;
}
