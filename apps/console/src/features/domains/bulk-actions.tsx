// Bulk actions on domains of a site.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import {
  IconArrowsExchange,
  IconCertificate,
  IconCopyPlus,
  IconFileText,
  IconLock,
  IconLockOpen,
  IconServer,
  IconTag,
  IconWorldCheck,
} from '@tabler/icons-react';
import type { ReactElement } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { act, does, remove, type BulkAction } from '../../components/resource-table/actions.tsx';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { mayChangeDomains, mayOrderCertificates } from '../../lib/site-features.ts';
import { t } from '../../lib/i18n.ts';
import { saveFile } from '../../lib/save-file.ts';
import { follow } from '../../stores/jobs.ts';
import { CnameResults } from './cname-results.tsx';
import { CopyForm, ManyOriginsForm, SwapForm, TagsForm } from './bulk-forms.tsx';
import type { Domain } from './origins-draft.ts';
import { off, on } from './switch-domains.ts';

const idsOf = (rows: readonly Domain[]) => rows.map(({ id }) => id);

export const removing = remove<Domain, typeof domains.remove>(domains.remove, {
  refreshes: ['sites'],
  applies: ({ status }) => status === 0,
  confirm: () => ({ points: [t('domains.removePoint')] }),
});

const forcing = (forceSSL: boolean) =>
  does<Domain, typeof domains.forceSSL>(domains.forceSSL, {
    label: forceSSL ? 'domains.bulk.force' : 'domains.bulk.unforce',
    icon: forceSSL ? IconLock : IconLockOpen,
    done: forceSSL ? 'domains.bulk.forced' : 'domains.bulk.unforced',
    applies: (domain) => domain.forceSSL !== forceSSL,
    send: (rows) => ({ params: { siteId: rows[0]?.siteID ?? '' }, body: { ids: idsOf(rows), forceSSL } }),
    undo: (rows) => [{ ids: idsOf(rows), send: (ids) => ({ body: { ids, forceSSL: !forceSSL } }) }],
    more: !forceSSL,
  });

const ordering = does<Domain, typeof certificates.autoSSL>(certificates.autoSSL, {
  label: 'certificates.forDomains',
  icon: IconCertificate,
  done: 'certificates.forDomainsDone',
  refreshes: ['domains', 'jobs'],
  applies: ({ certStatus }) => certStatus !== 'processing',
  skips: 'autoCertificates.skipsOrdered',
  send: (rows) => ({ params: { siteId: rows[0]?.siteID ?? '' }, body: { ids: idsOf(rows) } }),
  after: ({ jobID }, [row]) => {
    if (row) follow(jobID, row.siteID);
  },
});

/** Maximum per call. */
const MOST = 1000;

async function exportAll(siteId: string, ids: readonly string[]) {
  const parts: string[] = [];
  for (let from = 0; from < ids.length; from += MOST)
    parts.push(await call(domains.export, { params: { siteId }, body: { ids: ids.slice(from, from + MOST) } }));
  saveFile('domains.txt', parts, 'text/plain');
}

export function useBulkActions(site: SiteInfo): BulkAction<Domain>[] {
  const { id: siteId, cname } = site;
  const overlay = useOverlay();
  const opens = (
    label: 'tags' | 'origins' | 'swap' | 'copy' | 'check',
    icon: typeof IconTag,
    { can }: Pick<typeof domains.setTags, 'can'>,
    form: (rows: readonly Domain[]) => ReactElement,
  ) =>
    act<Domain>({
      label: `domains.bulk.${label}`,
      icon,
      can,
      more: label === 'swap' || label === 'copy',
      run: (rows) => overlay(form(rows), { title: `domains.bulk.${label}`, wide: label === 'origins' }),
    });
  return [
    on,
    ...(mayOrderCertificates(site) ? [ordering] : []),
    forcing(true),
    forcing(false),
    opens('tags', IconTag, domains.setTags, (rows) => <TagsForm siteId={siteId} rows={rows} />),
    opens('origins', IconServer, domains.setUpstreams, (rows) => <ManyOriginsForm siteId={siteId} rows={rows} />),
    opens('check', IconWorldCheck, domains.checkCname, (rows) => (
      <CnameResults siteId={siteId} cname={cname} rows={rows} />
    )),
    opens('swap', IconArrowsExchange, domains.swapAddress, (rows) => <SwapForm siteId={siteId} rows={rows} />),
    opens('copy', IconCopyPlus, domains.copyToSite, (rows) => <CopyForm siteId={siteId} ids={idsOf(rows)} />),
    act<Domain>({
      label: 'domains.bulk.export',
      icon: IconFileText,
      can: domains.export.can,
      more: true,
      run: (rows) => exportAll(siteId, idsOf(rows)).catch(toastError),
    }),
    off,
    ...(mayChangeDomains(site) ? [removing] : []),
  ];
}
