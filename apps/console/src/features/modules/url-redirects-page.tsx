import type { Received } from '@edgeloom/contract/endpoint.ts';
import { urlRedirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { UrlRedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { IconArrowRampRight } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage } from './modules-page.tsx';
import { ModuleForm } from './module-form.tsx';
import classes from './modules.module.css';
import { RedirectsPage } from './redirects-page.tsx';

type UrlRedirect = Received<typeof urlRedirects.list>['data'][number];

/** The modules, or the redirects of the module in the URL. */
export function UrlRedirectsPage() {
  const site = useSite();
  const [search] = useSearchParams();
  const moduleId = search.get('module');
  const params = { siteId: site.id };
  const found = useEndpoint(urlRedirects.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(urlRedirects.remove, { done: 'common.removed' });
  if (moduleId !== null)
    return (
      <Await result={found}>
        {({ data }) => (
          <RedirectsPage
            key={moduleId}
            siteId={site.id}
            moduleId={moduleId}
            module={data.find(({ id }) => id === moduleId)}
          />
        )}
      </Await>
    );
  return (
    <ModulesPage
      kind="urlRedirect"
      words="urlRedirects"
      icon={IconArrowRampRight}
      found={found}
      calls={urlRedirects}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={UrlRedirectForm}
    >
      {(row) => <Count row={row} to={`${siteAddress(site, 'redirects')}&module=${row.id}`} />}
    </ModulesPage>
  );
}

function Count({ row, to }: { row: UrlRedirect; to: string }) {
  const t = useT();
  return (
    <div className={classes['foot']}>
      <Link className={classes['manage'] ?? ''} to={to}>
        {t('urlRedirects.open', { count: row.redirectCount })}
      </Link>
    </div>
  );
}

function UrlRedirectForm({ siteId, value }: { siteId: string; value: UrlRedirect | undefined }) {
  return (
    <ModuleForm kind="urlRedirect" endpoints={urlRedirects} siteId={siteId} value={value} schema={UrlRedirectInput} />
  );
}
