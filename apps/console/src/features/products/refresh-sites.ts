import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { IconRefresh } from '@tabler/icons-react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { act } from '../../components/resource-table/actions.tsx';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { t } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { toast } from '../../stores/toasts.ts';
import type { Product } from './product-form.tsx';

/** Maximum page size; the call accepts twice as many. */
const pageSize = 500;

async function siteIDsOf({ id: productID }: Product) {
  const ids = new Set<string>();
  for (let page = 1; ; page += 1) {
    const { data, total } = await call(clientSites.list, { query: { productID, page, pageSize } });
    for (const { id } of data) ids.add(id);
    if (data.length < pageSize || page * pageSize >= total) return [...ids];
  }
}

/** Applies a product's groups to its sites, which otherwise keep those of their creation. */
export function useRefreshSites() {
  const confirm = useConfirm();
  const run = async (product: Product) => {
    try {
      const siteIDs = await siteIDsOf(product);
      const sites = { count: siteIDs.length };
      if (siteIDs.length === 0) return void toast({ tone: 'info', text: t('products.refresh.none') });
      const isSure = await confirm({
        title: t('products.refresh.question', sites),
        points: [
          t('products.refresh.takesOver', {
            product: product.name,
            group: product.groupName ?? t('products.firstGroup'),
          }),
          t('products.refresh.lifts'),
          t('shared.confirm.final'),
        ],
        verb: t('products.refresh.verb', sites),
        calm: true,
      });
      if (!isSure) return;
      for (let from = 0; from < siteIDs.length; from += pageSize)
        await call(clientSites.refreshProduct, { body: { siteIDs: siteIDs.slice(from, from + pageSize) } });
      toast({ text: t('products.refresh.done', { ...sites, sites: count(siteIDs.length) }) });
    } catch (error) {
      toastError(error);
    } finally {
      await refresh(['sites', 'products']);
    }
  };
  return (product: Product) =>
    act<Product>({
      label: 'products.refresh.label',
      icon: IconRefresh,
      can: clientSites.refreshProduct.can,
      run: () => run(product),
    });
}
