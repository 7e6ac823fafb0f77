import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Button } from '@mantine/core';
import { IconBox, IconCalendarTime, IconGauge, IconPlus, IconTags, IconWorld } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act, edit, type BulkAction } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill, Status } from '../../components/status/status.tsx';
import { count, time } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { ExpiryForm, LimitsForm, ProductForm, TagsForm } from './bulk-forms.tsx';
import { byProduct, grouping } from './group.tsx';
import { SiteForm } from './site-form.tsx';
import { forcing, lifting, locking, pausing, purging, resuming, type Site } from './site-actions.ts';
import { removing } from './removing.tsx';
import { SiteBandwidths, TrafficCell } from './traffic-cell.tsx';
import classes from './sites.module.css';

const columns: Column<Site>[] = [
  { key: 'name', to: (site) => siteAddress(site) },
  {
    key: 'status',
    render: statusOf,
    text: ({ status, forcedAt, publishError }) =>
      [
        t(`status.site.${status}`),
        ...(forcedAt === null ? [] : [t('sites.forced')]),
        ...(publishError === null ? [] : [t('sites.notPublished')]),
      ].join(' · '),
  },
  { key: 'userName', flexible: true },
  { key: 'zoneName', priority: 2 },
  { key: 'domainCount', align: 'right', render: domainsOf },
  {
    key: 'traffic',
    align: 'right',
    sort: false,
    render: (site) => <TrafficCell id={site.id} traffic={site.traffic} />,
    text: ({ traffic }) => String(traffic ?? ''),
  },
  { key: 'tags', as: 'tags', priority: 2 },
  { key: 'updatedAt', as: 'time', priority: 2 },
];

/** Sites of all customers, by product. */
export function SitesPage() {
  const overlay = useOverlay();
  const bulk: BulkAction<Site>[] = [
    resuming,
    purging,
    forcing,
    lifting,
    act<Site>({
      label: 'sites.actions.product',
      icon: IconBox,
      can: clientSites.changeProduct.can,
      more: true,
      run: (rows) => overlay(<ProductForm sites={rows} />, { title: 'sites.actions.product' }),
    }),
    act<Site>({
      label: 'sites.actions.limits',
      icon: IconGauge,
      can: clientSites.setLimitations.can,
      more: true,
      run: (rows) => overlay(<LimitsForm sites={rows} />, { title: 'sites.actions.limits' }),
    }),
    act<Site>({
      label: 'sites.actions.expiry',
      icon: IconCalendarTime,
      can: clientSites.setExpiry.can,
      more: true,
      run: (rows) => overlay(<ExpiryForm sites={rows} />, { title: 'sites.actions.expiry' }),
    }),
    act<Site>({
      label: 'sites.actions.tags',
      icon: IconTags,
      can: clientSites.setTags.can,
      more: true,
      run: (rows) => overlay(<TagsForm sites={rows} />, { title: 'sites.actions.tags' }),
    }),
    pausing,
    locking,
    removing,
  ];
  const tags = useEndpoint(sites.tagsInUse, { query: { pageSize: 1 } }).data?.data ?? [];
  return (
    <Page title="sites.title" create={<SiteForm />} creates={clientSites.create}>
      <ResourceTable
        endpoint={clientSites.list}
        query={grouping}
        words="sites"
        columns={columns}
        around={SiteBandwidths}
        search="name"
        filters={[
          { key: 'status', choices: ['normal', 'pause', 'limit', 'lock', 'expired'], status: 'site', many: true },
          { key: 'attention', choices: SiteAttention.options, many: true },
          { key: 'productID', meta: products.meta },
          { key: 'zoneID', meta: zones.meta },
          ...(tags.length > 0 ? [{ key: 'tags', meta: sites.tagsInUse, many: true }] : []),
        ]}
        group={byProduct}
        row={(site) => [
          edit(<SiteForm value={site} />, { title: 'sites.edit', can: clientSites.update.can }),
          ...bulk.filter((action) => action.kind === 'run' || action.applies(site)),
        ]}
        bulk={bulk}
        phone={(site) => ({
          below:
            site.status === 'normal' && !isOut(site) && site.forcedAt === null && site.publishError === null
              ? (site.userName ?? site.zoneName)
              : statusOf(site),
          end: domainsOf(site),
        })}
        empty={{ icon: IconWorld, action: <First /> }}
      />
    </Page>
  );
}

const isOut = ({ userStatus }: Site) => userStatus === 'lock' || userStatus === 'expired';

/** A healthy site is out of service while its owner is locked. */
function statusOf(site: Site) {
  const why = isOut(site) ? t('sites.ownerOut') : null;
  const status = <Status kind="site" value={site.status} why={why} />;
  const forced = site.forcedAt !== null && (
    <span title={t('sites.forcedSince', { time: time(site.forcedAt) })}>
      <Pill tone="warn">{t('sites.forced')}</Pill>
    </span>
  );
  const unpublished = site.publishError !== null && (
    <span title={t('sites.notPublishedWhy', { error: t(`sites.publishError.${site.publishError}`) })}>
      <Pill tone="bad">{t('sites.notPublished')}</Pill>
    </span>
  );
  if (!forced && !unpublished) return status;
  return (
    <span className={classes['forced']}>
      {status} {forced} {unpublished}
    </span>
  );
}

function domainsOf({ domainCount, domainLimit }: { domainCount: number; domainLimit: number }) {
  return domainLimit === 0
    ? count(domainCount)
    : t('sites.ofLimit', { count: count(domainCount), limit: count(domainLimit) });
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(clientSites.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<SiteForm />, { title: 'sites.create' })}
    >
      {t('sites.create')}
    </Button>
  );
}
