import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { IconCertificate, IconEye, IconPlus, IconWorldWww } from '@tabler/icons-react';
import { Button } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { AssignForm } from './assign-form.tsx';
import { CertificateDetails } from './certificate-details.tsx';
import { CertificateName } from './certificate-name.tsx';
import { CertificateState } from './certificate-state.tsx';
import { NewCertificate } from './new-certificate.tsx';

export type Certificate = RowOf<typeof certificates.list>;

const removing = remove<Certificate, typeof certificates.remove>(certificates.remove, {
  refreshes: ['domains'],
  applies: ({ inUse }) => inUse === 0,
  skips: 'certificates.skipsUsed',
  confirm: () => ({ points: [t('certificates.removePoint')] }),
});

/** The certificates of one site. */
export function CertificatesPage() {
  const t = useT();
  const overlay = useOverlay();
  const { id: siteId, name, autoSSL } = useSite();
  const site = useMemo(() => ({ id: siteId, name, autoSSL }), [siteId, name, autoSSL]);
  const show = useCallback(
    ([row]: readonly Certificate[]) => {
      if (row)
        overlay(<CertificateDetails site={site} certId={row.id} />, { title: { text: row.sslName }, wide: true });
    },
    [overlay, site],
  );
  const columns = useMemo<Column<Certificate>[]>(
    () => [
      { key: 'sslName', render: (row) => <CertificateName of={row} onOpen={() => show([row])} /> },
      { key: 'status', flexible: true, render: (row) => <CertificateState of={row} /> },
      { key: 'type', sort: false, render: ({ type }) => t(`certificates.choices.type.${type}`) },
      { key: 'inUse', as: 'count' },
      { key: 'keyTypes', sort: false, priority: 2, render: ({ keyTypes }) => <KeyTypes of={keyTypes} /> },
      { key: 'expiry', as: 'time' },
      { key: 'nextAt', sort: false, as: 'time', priority: 3 },
    ],
    [t, show],
  );
  const assign = ([row]: readonly Certificate[]) => {
    if (row) overlay(<AssignForm site={site} certId={row.id} />, { title: 'certificates.assign' });
  };
  return (
    <Page title="certificates.title" create={<NewCertificate site={site} />} creates={certificates.create}>
      <ResourceTable
        endpoint={certificates.list}
        params={{ siteId }}
        columns={columns}
        search="sslName"
        filters={[
          { key: 'status', choices: ['none', 'processing', 'success', 'fail'], many: true },
          { key: 'ending', yesNo: true },
        ]}
        pollMs={10_000}
        row={() => [
          act({ label: 'certificates.show', icon: IconEye, run: show }),
          act({ label: 'certificates.assign', icon: IconWorldWww, can: certificates.assign.can, run: assign }),
          removing,
        ]}
        bulk={[removing]}
        phone={(row) => ({ below: <CertificateState of={row} /> })}
        empty={{ icon: IconCertificate, action: <First /> }}
      />
    </Page>
  );
}

const KeyTypes = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? <Nothing /> : <>{of.map((type) => type.toUpperCase()).join(' + ')}</>;

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const site = useSite();
  if (!can(certificates.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<NewCertificate site={site} />, { title: 'certificates.create' })}
    >
      {t('certificates.create')}
    </Button>
  );
}
