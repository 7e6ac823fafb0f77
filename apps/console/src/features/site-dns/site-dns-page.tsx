import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { Button } from '@mantine/core';
import { IconAddressBook, IconPlus, IconStethoscope } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { edit, open, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { faultWords } from '../../lib/provider-words.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './site-dns.module.css';
import { SiteDnsForm, type SiteDns } from './site-dns-form.tsx';

const columns: Column<SiteDns>[] = [
  { key: 'provider', render: ({ provider }) => t(`dnsAccount.choices.provider.${provider}`) },
  { key: 'domains', sort: false, flexible: true, render: ({ domains }) => domains.join('  ') },
  { key: 'credentials', sort: false, priority: 2 },
  { key: 'updatedAt', sort: false, as: 'time', priority: 2 },
];
const removing = remove<SiteDns, typeof siteDns.remove>(siteDns.remove, {
  confirm: () => ({ points: [t('siteDns.removePoint')] }),
});

/** DNS accounts of the site, used for DNS-01 validation. */
export function SiteDnsPage() {
  const { id: siteId } = useSite();
  return (
    <Page title="siteDns.title" create={<SiteDnsForm siteId={siteId} />} creates={siteDns.create}>
      <ResourceTable
        endpoint={siteDns.list}
        params={{ siteId }}
        columns={columns}
        row={(row) => [
          open({ label: 'siteDns.look', icon: IconStethoscope, element: <Look siteId={siteId} dnsID={row.id} /> }),
          edit(<SiteDnsForm siteId={siteId} value={row} />, { title: 'siteDns.edit', can: siteDns.update.can }),
          removing,
        ]}
        bulk={[removing]}
        empty={{ icon: IconAddressBook, action: <First siteId={siteId} /> }}
      />
    </Page>
  );
}

function Look({ siteId, dnsID }: { siteId: string; dnsID: string }) {
  const t = useT();
  const found = useEndpoint(siteDns.domains, { params: { siteId, dnsID } });
  return (
    <Await result={found}>
      {({ data }) => (
        <ul className={classes['zones']}>
          {data.map(({ name, records, error }) => (
            <li key={name}>
              <StatusMark tone={error === null ? 'ok' : 'bad'} />
              <b>{name}</b>
              <span>{error === null ? t('siteDns.records', { count: records ?? 0 }) : faultWords(error)}</span>
            </li>
          ))}
        </ul>
      )}
    </Await>
  );
}

function First({ siteId }: { siteId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(siteDns.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<SiteDnsForm siteId={siteId} />, { title: 'siteDns.create' })}
    >
      {t('siteDns.create')}
    </Button>
  );
}
