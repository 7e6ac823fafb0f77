import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { Button } from '@mantine/core';
import { IconEraser, IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page, useTab } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { newRule, type Rule } from './rules-draft.ts';
import { CurrentTab } from './current-tab.tsx';
import { RulesTab } from './rules-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { useCacheRules } from './use-cache-rules.ts';

interface CachePageProps {
  purgeTab: ReactNode;
  preheatTab: ReactNode;
}

/** Purge and prefetch are other features, so the console passes their tabs. */
export function CachePage(tabs: CachePageProps) {
  const { id } = useSite();
  const found = useEndpoint(cacheRules.list, { params: { siteId: id }, query: { pageSize: 500 } });
  return (
    <Await result={found} page="cache.title">
      {({ data }) => <Loaded published={data} {...tabs} />}
    </Await>
  );
}

function Loaded({ published, purgeTab, preheatTab }: CachePageProps & { published: readonly Rule[] }) {
  const t = useT();
  const can = useCan();
  const site = useSite();
  const drafting = useCacheRules(site.id, published);
  const tabs = [
    { value: 'rules', label: 'cache.tabs.rules', count: drafting.rules.length },
    { value: 'current', label: 'cache.tabs.current' },
    { value: 'purge', label: 'cache.tabs.purge' },
    { value: 'preheat', label: 'cache.tabs.preheat' },
    { value: 'settings', label: 'cache.tabs.settings' },
  ] as const;
  const tab = useTab(tabs);
  return (
    <Page
      title="cache.title"
      tabs={tabs}
      actions={
        tab === 'rules' && (
          <>
            {can(purge.urls) && (
              <Button
                component={Link}
                to={siteAddress(site, 'cache', 'purge')}
                variant="default"
                leftSection={<IconEraser size={15} stroke={1.6} />}
              >
                {t('cache.purge')}
              </Button>
            )}
            {can(cacheRules.create) && (
              <Button
                data-main-action
                leftSection={<IconPlus size={15} stroke={1.8} />}
                onClick={() => drafting.add(newRule())}
              >
                {t('cache.create')}
              </Button>
            )}
          </>
        )
      }
    >
      {tab === 'rules' && <RulesTab drafting={drafting} />}
      {tab === 'current' && <CurrentTab siteId={site.id} />}
      {tab === 'purge' && purgeTab}
      {tab === 'preheat' && preheatTab}
      {tab === 'settings' && <SettingsTab siteId={site.id} />}
    </Page>
  );
}
