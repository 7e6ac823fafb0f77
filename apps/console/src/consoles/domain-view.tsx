import { DomainPage } from '../features/domains/domain-page.tsx';
import { HotlinkTab } from '../features/hotlink/hotlink-tab.tsx';

const more = [{ value: 'hotlink', label: 'hotlink.tab', show: HotlinkTab }] as const;

/** The page of a domain with what other features say of it. */
export const DomainView = () => <DomainPage more={more} />;
