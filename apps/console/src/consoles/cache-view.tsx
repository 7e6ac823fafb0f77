import { CachePage } from '../features/cache/cache-page.tsx';
import { PreheatTab } from '../features/preheat/preheat-tab.tsx';
import { PurgeTab } from '../features/purge/purge-tab.tsx';

/** Combines the features cache rules, purge and prefetch. */
export const CacheView = () => <CachePage purgeTab={<PurgeTab />} preheatTab={<PreheatTab />} />;
