import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { remove } from '../../components/resource-table/actions.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Site } from './site-actions.ts';

const blocking = ['domains', 'forwards'] as const;
const removedToo = ['certificates', 'modules', 'rules'] as const;
type Kind = (typeof blocking)[number] | (typeof removedToo)[number];

/** Names the contents that block the removal of the sites, or that are removed with them. */
function Contents({ siteIDs }: { siteIDs: string[] }) {
  const t = useT();
  const { data } = useEndpoint(clientSites.contents, { body: { siteIDs } });
  // Also if they cannot be counted.
  if (!data) return t('sites.contents.uncounted');
  const listed = (kinds: readonly Kind[]) =>
    kinds
      .map((kind) => ({ kind, count: data.data.reduce((sum, site) => sum + site[kind], 0) }))
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => t(`sites.contents.${kind}`, { count }))
      .join(t('common.comma'));
  const [first, too] = [listed(blocking), listed(removedToo)];
  if (first !== '') return t('sites.contents.first', { contents: first });
  return too === '' ? t('sites.contents.none') : t('sites.contents.too', { contents: too });
}

export const removing = remove<Site, typeof clientSites.remove>(clientSites.remove, {
  refreshes: ['products', 'zones'],
  done: 'sites.done.removed',
  confirm: (_, rows) => ({ points: [<Contents key="contents" siteIDs={rows.map(({ id }) => id)} />] }),
});
