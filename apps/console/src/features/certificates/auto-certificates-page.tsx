import { autoCertificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { IconCertificate, IconEye, IconRefresh } from '@tabler/icons-react';
import { useCallback, useMemo } from 'react';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act, does } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { siteAddress } from '../../lib/site-address.ts';
import { follow } from '../../stores/jobs.ts';
import { CertificateDetails } from './certificate-details.tsx';
import { CertificateName } from './certificate-name.tsx';
import { CertificateState } from './certificate-state.tsx';
import classes from './certificates.module.css';

type AutoCertificate = RowOf<typeof autoCertificates.list>;

const renewing = does<AutoCertificate, typeof autoCertificates.renew>(autoCertificates.renew, {
  label: 'autoCertificates.renew',
  icon: IconRefresh,
  done: 'autoCertificates.renewed',
  refreshes: ['certificates', 'jobs'],
  applies: ({ status }) => status !== 'processing',
  skips: 'autoCertificates.skipsOrdered',
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
  after({ jobs }) {
    for (const { jobID, siteID } of jobs) follow(jobID, siteID);
  },
});

/** The automatic certificates of all sites. */
export function AutoCertificatesPage() {
  const overlay = useOverlay();
  const show = useCallback(
    ([row]: readonly AutoCertificate[]) => {
      if (row)
        overlay(<CertificateDetails site={{ id: row.siteID, name: row.siteName, autoSSL: true }} certId={row.id} />, {
          title: { text: row.sslName },
          wide: true,
        });
    },
    [overlay],
  );
  const columns = useMemo<Column<AutoCertificate>[]>(
    () => [
      { key: 'sslName', render: (row) => <CertificateName of={row} onOpen={() => show([row])} /> },
      { key: 'status', sort: false, flexible: true, render: (row) => <CertificateState of={row} /> },
      {
        key: 'siteName',
        sort: false,
        render: ({ siteID, siteName }) => (
          <Link className={classes['site'] ?? ''} to={siteAddress({ id: siteID, name: siteName })}>
            {siteName}
          </Link>
        ),
      },
      { key: 'userName', sort: false, priority: 3, render: ({ userName }) => userName ?? <Nothing /> },
      { key: 'inUse', sort: false, as: 'count', priority: 2 },
      { key: 'expiry', as: 'time' },
      { key: 'nextAt', as: 'time', priority: 2 },
    ],
    [show],
  );
  return (
    <Page title="autoCertificates.title">
      <ResourceTable
        endpoint={autoCertificates.list}
        columns={columns}
        search="keyword"
        filters={[
          { key: 'status', choices: ['none', 'processing', 'success', 'fail'], many: true },
          { key: 'siteID', meta: sites.meta },
        ]}
        pollMs={10_000}
        row={() => [act({ label: 'certificates.show', icon: IconEye, run: show }), renewing]}
        bulk={[renewing]}
        phone={(row) => ({ below: <CertificateState of={row} /> })}
        empty={{ icon: IconCertificate }}
      />
    </Page>
  );
}
