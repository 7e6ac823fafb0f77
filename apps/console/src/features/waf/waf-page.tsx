import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { WafCategory } from '@edgeloom/contract/waf/waf.ts';
import { Alert, Button, Group } from '@mantine/core';
import { IconShieldBolt } from '@tabler/icons-react';
import { useSearchParams } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { ModulesPage, Sentences } from '../modules/modules-page.tsx';
import modules from '../modules/modules.module.css';
import { WafForm, type Waf } from './waf-form.tsx';

const isCategory = (text: string): text is WafCategory => WafCategory.safeParse(text).success;

export function WafPage() {
  const t = useT();
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(wafs.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(wafs.remove, { done: 'common.removed' });
  return (
    <>
      <Exemption siteId={siteId} rows={found.data?.data ?? []} />
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
            </div>
          </>
        )}
      </ModulesPage>
    </>
  );
}

/** The exception that a link of the log search proposes. */
function Exemption({ siteId, rows }: { siteId: string; rows: readonly Waf[] }) {
  const t = useT();
  const can = useCan();
  const [search, setSearch] = useSearchParams();
  const { run, running } = useAction(wafs.update, { done: 'common.saved' });
  const [rule, path] = [search.get('rule'), search.get('path')];
  if (rule === null || path === null || !can(wafs.update)) return null;
  const close = () =>
    setSearch(
      (now) => {
        now.delete('rule');
        now.delete('path');
        return now;
      },
      { replace: true },
    );
  const add = async (row: Waf) => {
    const { id, name, mode, paranoia, disabledCategories, disabledRules, bodyKiB, largeBodies } = row;
    const settings = { id, name, mode, paranoia, bodyKiB, largeBodies, disabledRules };
    const exceptions = [...row.exceptions, { rule, path, parameter: null }];
    const changed = { ...settings, disabledCategories: disabledCategories.filter(isCategory), exceptions };
    if ((await run({ params: { siteId }, body: { modules: [changed] } })) !== null) close();
  };
  return (
    <Alert mb="md" title={t('wafs.exempt.title')} withCloseButton closeButtonLabel={t('common.close')} onClose={close}>
      <p>{t('wafs.exempt.text', { rule, path })}</p>
      <Group gap="xs">
        {rows.map((row) => (
          <Button key={row.id} size="xs" loading={running} onClick={() => void add(row)}>
            {t('wafs.exempt.add', { name: row.name })}
          </Button>
        ))}
        {rows.length === 0 && t('wafs.exempt.none')}
      </Group>
    </Alert>
  );
}
