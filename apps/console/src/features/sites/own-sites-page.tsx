import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { ownProducts } from '@edgeloom/contract/products/products.endpoints.ts';
import { ownSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { IconWorld } from '@tabler/icons-react';
import { Page } from '../../components/page/page.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { t } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { byProduct, grouping } from './group.tsx';
import { SiteBandwidths, TrafficCell } from './traffic-cell.tsx';

type OwnSite = RowOf<typeof ownSites.list>;

const domainsOf = ({ domainCount, domainLimit }: OwnSite) =>
  domainLimit === 0 ? count(domainCount) : t('sites.ofLimit', { count: count(domainCount), limit: count(domainLimit) });

const columns: Column<OwnSite>[] = [
  { key: 'name', to: (site) => siteAddress(site) },
  {
    key: 'status',
    render: ({ status }) => <Status kind="site" value={status} />,
    text: ({ status }) => t(`status.site.${status}`),
  },
  { key: 'domainCount', align: 'right', render: domainsOf },
  {
    key: 'traffic',
    align: 'right',
    sort: false,
    render: (site) => <TrafficCell id={site.id} traffic={site.traffic} />,
    text: ({ traffic }) => String(traffic ?? ''),
  },
  { key: 'tags', as: 'tags' },
  { key: 'createdAt', as: 'time', priority: 2 },
  { key: 'updatedAt', as: 'time' },
];

/** The customer's sites, by product. */
export function OwnSitesPage() {
  const tags = useEndpoint(sites.tagsInUse, { query: { pageSize: 1 } }).data?.data ?? [];
  return (
    <Page title="sites.title">
      <ResourceTable
        endpoint={ownSites.list}
        query={grouping}
        words="sites"
        columns={columns}
        around={SiteBandwidths}
        search="siteName"
        filters={[
          { key: 'status', choices: ['normal', 'pause', 'limit', 'lock', 'expired'], status: 'site', many: true },
          { key: 'attention', choices: SiteAttention.options, many: true },
          { key: 'productID', meta: ownProducts.list },
          ...(tags.length > 0 ? [{ key: 'tags', meta: sites.tagsInUse, many: true }] : []),
        ]}
        group={byProduct}
        phone={(site) => ({
          below: site.status === 'normal' ? site.productName : <Status kind="site" value={site.status} />,
          end: domainsOf(site),
        })}
        empty={{ icon: IconWorld, text: 'sites.empty.own' }}
      />
    </Page>
  );
}
