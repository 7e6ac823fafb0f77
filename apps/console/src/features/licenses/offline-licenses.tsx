import { offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import { Button } from '@mantine/core';
import { IconFileCertificate, IconLinkOff, IconPlus } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { does, edit, open, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Limit, Time } from '../../components/values/values.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { IssueFileForm, OfflineLicenseForm, type OfflineLicense } from './offline-license-forms.tsx';

const endOf = ({ endsAt }: OfflineLicense) => (endsAt === null ? t('licenses.never') : <Time at={endsAt} />);

const columns: Column<OfflineLicense>[] = [
  { key: 'name' },
  {
    key: 'machineCode',
    render: ({ machineCode }) =>
      machineCode === null ? (
        t('offlineLicenses.notIssued')
      ) : (
        <Copy text={machineCode}>{machineCode.slice(0, 8)}…</Copy>
      ),
    text: ({ machineCode }) => machineCode ?? '',
  },
  { key: 'siteLimit', align: 'right', render: ({ siteLimit }) => <Limit of={siteLimit} /> },
  { key: 'domainLimit', align: 'right', render: ({ domainLimit }) => <Limit of={domainLimit} /> },
  { key: 'nodeLimit', align: 'right', render: ({ nodeLimit }) => <Limit of={nodeLimit} />, priority: 2 },
  { key: 'issuedAt', as: 'time', priority: 2 },
  { key: 'endsAt', render: endOf },
];

const free = does<OfflineLicense, typeof offlineLicenses.free>(offlineLicenses.free, {
  label: 'offlineLicenses.free',
  icon: IconLinkOff,
  danger: true,
  applies: ({ machineCode }) => machineCode !== null,
  confirm: () => ({ points: [t('offlineLicenses.freePoint')] }),
  done: 'offlineLicenses.freed',
  send: (rows) => ({ body: { id: rows[0]?.id ?? '' } }),
});
const removeFreed = remove<OfflineLicense, typeof offlineLicenses.remove>(offlineLicenses.remove, {
  applies: ({ machineCode }) => machineCode === null,
  skips: 'offlineLicenses.firstFree',
});

export function OfflineLicenses() {
  return (
    <ResourceTable
      endpoint={offlineLicenses.list}
      columns={columns}
      row={(license) => [
        open({
          label: 'offlineLicenses.issue',
          icon: IconFileCertificate,
          element: <IssueFileForm license={license} />,
          can: offlineLicenses.issue.can,
        }),
        edit(<OfflineLicenseForm value={license} />, {
          title: 'offlineLicenses.edit',
          can: offlineLicenses.update.can,
        }),
        free,
        removeFreed,
      ]}
      bulk={[removeFreed]}
      phone={(license) => ({ below: endOf(license), end: license.machineCode?.slice(0, 8) ?? '' })}
      empty={{ icon: IconFileCertificate, action: <First /> }}
    />
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(offlineLicenses.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<OfflineLicenseForm />, { title: 'offlineLicenses.create' })}
    >
      {t('offlineLicenses.create')}
    </Button>
  );
}
