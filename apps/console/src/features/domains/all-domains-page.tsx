import { clientDomains, domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { Button } from '@mantine/core';
import { IconWorldCheck, IconWorldWww } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import { go, open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { to } from '../../lib/family.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import { CnameResults } from './cname-results.tsx';
import { Below, cert, cname, domainName, filters, force, origins, tags, traffic, updated } from './domain-columns.tsx';

type SiteDomain = RowOf<typeof clientDomains.list>;

const siteOf = ({ siteID, siteName }: SiteDomain) => ({ id: siteID, name: siteName });

const columns: Column<SiteDomain>[] = [
  { ...domainName, flexible: true, to: (domain) => domainAddress(siteOf(domain), domain.name) },
  {
    key: 'status',
    render: ({ status }) => <Status kind="domain" value={status === 1 ? 'on' : 'off'} />,
    text: ({ status }) => t(status === 1 ? 'common.on' : 'common.off'),
  },
  {
    key: 'siteName',
    flexible: true,
    render: (domain) => (
      <Link to={siteAddress(siteOf(domain))} title={domain.siteName}>
        {domain.siteName}
      </Link>
    ),
  },
  cname,
  cert,
  force,
  { ...origins, flexible: true },
  traffic,
  { ...tags, priority: 3 },
  updated,
];

/** The CNAME target depends on the site. */
function Check({ domain }: { domain: SiteDomain }) {
  const site = useEndpoint(sites.get, { params: { siteId: domain.siteID } });
  return <Await result={site}>{({ id, cname: to }) => <CnameResults siteId={id} cname={to} rows={[domain]} />}</Await>;
}

function ToSites() {
  const t = useT();
  return (
    <Button component={Link} to={to('nodeManage/sitesList')} variant="default">
      {t('sites.title')}
    </Button>
  );
}

/** Domains of all sites. Adding and enabling is done in the site. */
export function AllDomainsPage() {
  const known = useEndpoint(clientDomains.tags, { query: { pageSize: 1 } }).data?.data ?? [];
  return (
    <Page title="domains.title">
      <ResourceTable
        endpoint={clientDomains.list}
        words="domains"
        columns={columns}
        search="keywords"
        filters={[
          ...filters,
          ...(known.length > 0 ? [{ key: 'tags', meta: clientDomains.tags, many: true }] : []),
          { key: 'siteID', meta: sites.meta },
        ]}
        phone={(domain) => ({
          below: <Below domain={domain} />,
          end: <Status kind="domain" value={domain.status === 1 ? 'on' : 'off'} />,
        })}
        row={(domain) => [
          go({ label: 'domains.open', to: domainAddress(siteOf(domain), domain.name) }),
          open({
            label: 'domains.bulk.check',
            icon: IconWorldCheck,
            element: <Check domain={domain} />,
            can: domains.checkCname.can,
          }),
        ]}
        empty={{ icon: IconWorldWww, text: 'domains.empty.all', action: <ToSites /> }}
      />
    </Page>
  );
}
