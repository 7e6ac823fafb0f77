import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Button } from '@mantine/core';
import { IconBox, IconPlus } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Limit } from '../../components/values/values.tsx';
import { count, money } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { ProductForm, type Product } from './product-form.tsx';
import { useRefreshSites } from './refresh-sites.ts';

const sitesOf = ({ siteCount, siteLimit }: Product) =>
  siteLimit === 0 ? count(siteCount) : t('products.ofLimit', { count: count(siteCount), limit: count(siteLimit) });
const priceOf = ({ trafficPriceCents }: Product) =>
  trafficPriceCents === 0 ? t('products.free') : t('products.price', { price: money(trafficPriceCents) });

const columns: Column<Product>[] = [
  { key: 'name' },
  { key: 'zoneName' },
  { key: 'groupName', render: ({ groupName }) => groupName ?? t('products.firstGroup'), priority: 2 },
  { key: 'siteCount', align: 'right', render: sitesOf },
  { key: 'domainLimit', align: 'right', render: ({ domainLimit }) => <Limit of={domainLimit} /> },
  { key: 'trafficPriceCents', align: 'right', render: priceOf },
  {
    key: 'overLimitAction',
    render: ({ overLimitAction }) => t(`products.choices.overLimitAction.${overLimitAction}`),
    priority: 2,
  },
  { key: 'memo', flexible: true, priority: 3 },
  { key: 'updatedAt', as: 'time', priority: 2 },
];
const removing = remove<Product, typeof products.remove>(products.remove);

export function ProductsPage() {
  const refreshSites = useRefreshSites();
  return (
    <Page title="products.title" create={<ProductForm />} creates={products.create}>
      <ResourceTable
        endpoint={products.list}
        columns={columns}
        search="name"
        filters={[{ key: 'zoneID', meta: zones.meta }]}
        row={(product) => [
          edit(<ProductForm value={product} />, { title: 'products.edit', can: products.update.can }),
          refreshSites(product),
          removing,
        ]}
        bulk={[removing]}
        phone={(product) => ({ below: product.zoneName, end: sitesOf(product) })}
        empty={{ icon: IconBox, action: <First /> }}
      />
    </Page>
  );
}

function First() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(products.create)) return null;
  return (
    <Button
      leftSection={<IconPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<ProductForm />, { title: 'products.create' })}
    >
      {t('products.create')}
    </Button>
  );
}
