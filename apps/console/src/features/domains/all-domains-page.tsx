import { clientDomains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { IconWorldWww } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { t } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import { Below, cert, cname, filters, force, origins, tags, updated } from './domain-columns.tsx';

type SiteDomain = RowOf<typeof clientDomains.list>;

const siteOf = ({ siteID, siteName }: SiteDomain) => ({ id: siteID, name: siteName });

const columns: Column<SiteDomain>[] = [
  { key: 'name', to: (domain) => domainAddress(siteOf(domain), domain.name) },
  {
    key: 'status',
    render: ({ status }) => <Status kind="domain" value={status === 1 ? 'on' : 'off'} />,
    text: ({ status }) => t(status === 1 ? 'common.on' : 'common.off'),
  },
  { key: 'siteName', render: (domain) => <Link to={siteAddress(siteOf(domain))}>{domain.siteName}</Link> },
  cname,
  cert,
  force,
  origins,
  tags,
  updated,
];

/** The domains of all sites. They are added and switched inside their site. */
export function AllDomainsPage() {
  const known = useEndpoint(clientDomains.tags).data?.data ?? [];
  return (
    <Page title="domains.title">
      <ResourceTable
        endpoint={clientDomains.list}
        words="domains"
        columns={columns}
        search="keywords"
        filters={[
          ...filters,
          ...(known.length > 0 ? [{ key: 'tags', choices: known, many: true }] : []),
          { key: 'siteID', meta: sites.meta },
        ]}
        phone={(domain) => ({
          below: <Below domain={domain} />,
          end: <Status kind="domain" value={domain.status === 1 ? 'on' : 'off'} />,
        })}
        empty={{ icon: IconWorldWww, text: 'domains.empty.all' }}
      />
    </Page>
  );
}
