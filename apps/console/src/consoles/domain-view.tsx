import { antiReferers } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { DomainPage } from '../features/domains/domain-page.tsx';
import { HotlinkTab } from '../features/hotlink/hotlink-tab.tsx';

/** What other features say of a domain; each is a tab of its page. */
const tabs = [
  {
    value: 'hotlink',
    label: 'hotlink.tab',
    reads: antiReferers.list,
    show: (domain: { id: string; siteID: string }) => <HotlinkTab domain={domain} />,
  },
] as const;

export const DomainView = () => <DomainPage more={tabs} />;
