import { CachePage } from '../features/cache/cache-page.tsx';
import { PreheatTab } from '../features/preheat/preheat-tab.tsx';
import { PurgeTab } from '../features/purge/purge-tab.tsx';

/** Rules, purges and preheating are features of their own; the reader finds them all under Cache. */
export const CacheView = () => <CachePage purgeTab={<PurgeTab />} preheatTab={<PreheatTab />} />;
