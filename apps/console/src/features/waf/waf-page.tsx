import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { IconShieldBolt } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage, Sentences } from '../modules/modules-page.tsx';
import modules from '../modules/modules.module.css';
import { RulesPage } from './rules-page.tsx';
import { WafForm } from './waf-form.tsx';

export function WafPage() {
  const t = useT();
  const site = useSite();
  const [search] = useSearchParams();
  const params = { siteId: site.id };
  const found = useEndpoint(wafs.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(wafs.remove, { done: 'common.removed' });
  const firewall = found.data?.data.find(({ id }) => id === search.get('firewall'));
  if (firewall) return <RulesPage site={site} firewall={firewall} />;
  return (
    <ModulesPage
      kind="waf"
      words="wafs"
      icon={IconShieldBolt}
      found={found}
      calls={wafs}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={WafForm}
    >
      {(row) => (
        <>
          <Sentences>
            <li>{t(row.mode === 'block' ? 'wafs.refused' : row.mode === 'off' ? 'wafs.off' : 'wafs.monitored')}</li>
            <li>{t('wafs.level', { level: row.paranoia })}</li>
            <li>{t('wafs.body', { size: count(row.bodyKiB) })}</li>
          </Sentences>
          <div className={modules['foot']}>
            {t('wafs.disabledCount', { count: row.disabledCategories.length + row.disabledRules.length })}
            {' · '}
            {t('wafs.exceptionCount', { count: row.exceptions.length })}
            {' · '}
            <Link to={`${siteAddress(site, 'waf')}&firewall=${row.id}`}>{t('wafs.rules')}</Link>
          </div>
        </>
      )}
    </ModulesPage>
  );
}
