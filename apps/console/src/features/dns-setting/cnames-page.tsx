import { cnames } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { IconArrowRampRight, IconStar } from '@tabler/icons-react';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Page } from '../../components/page/page.tsx';
import { does, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { t, useT } from '../../lib/i18n.ts';

type Cname = RowOf<typeof cnames.list>;

const columns: Column<Cname>[] = [
  { key: 'name', flexible: true },
  {
    key: 'isDefault',
    sort: false,
    text: ({ isDefault }) => (isDefault ? t('cnames.default') : ''),
    render: ({ isDefault }) => isDefault && <Pill tone="ok">{t('cnames.default')}</Pill>,
  },
  { key: 'rootDomain', flexible: true, sort: false, priority: 2 },
  { key: 'dnsType', sort: false, priority: 2, render: ({ dnsType }) => t(`dnsAccount.choices.provider.${dnsType}`) },
  { key: 'names', sort: false, as: 'count' },
  { key: 'createdAt', as: 'time', priority: 2 },
];
const choosing = does<Cname, typeof cnames.update>(cnames.update, {
  label: 'cnames.makeDefault',
  icon: IconStar,
  done: 'cnames.madeDefault',
  refreshes: ['sites', 'domains'],
  applies: ({ isDefault }) => !isDefault,
  send: ([row]) => ({ body: { id: row?.id ?? '', isDefault: true as const } }),
});
const removing = remove<Cname, typeof cnames.remove>(cnames.remove, {
  refreshes: ['dnsSetting'],
  confirm: (_, rows) => ({
    points: [t('cnames.removePoint')],
    type: rows.length === 1 ? rows[0]?.name : undefined,
  }),
});

/** CNAME suffixes of sites and groups. */
export function CnamesPage() {
  useT();
  return (
    <Page title="cnames.title" create={<CnameForm />} creates={cnames.create}>
      <ResourceTable
        endpoint={cnames.list}
        columns={columns}
        row={() => [choosing, removing]}
        bulk={[removing]}
        empty={{ icon: IconArrowRampRight }}
      />
    </Page>
  );
}

const CnameForm = () => (
  <ResourceForm create={cnames.create} refreshes={['dnsSetting']}>
    <TextField name="name" placeholder="cdn.example.net" />
    <SwitchField name="isDefault" />
  </ResourceForm>
);
