import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { antiReferers } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { DomainCacheTab } from '../features/cache/domain-cache-tab.tsx';
import { DomainPage } from '../features/domains/domain-page.tsx';
import { HotlinkTab } from '../features/hotlink/hotlink-tab.tsx';
import { DomainRulesTab } from '../features/modules/domain-rules-tab.tsx';
import { DomainPurge } from '../features/purge/domain-purge.tsx';

/** Tabs of other features on the domain page. */
const tabs = [
  {
    value: 'cache',
    label: 'cache.title',
    reads: cacheRules.list,
    show: (domain: { name: string; siteID: string }) => <DomainCacheTab purge={<DomainPurge domain={domain} />} />,
  },
  {
    value: 'rules',
    label: 'domainModules.tab',
    reads: domainModules.list,
    show: (domain: { id: string; siteID: string }) => <DomainRulesTab domain={domain} />,
  },
  {
    value: 'hotlink',
    label: 'hotlink.tab',
    reads: antiReferers.list,
    show: (domain: { id: string; siteID: string }) => <HotlinkTab domain={domain} />,
  },
] as const;

export const DomainView = () => <DomainPage more={tabs} />;
