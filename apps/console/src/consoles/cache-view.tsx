import { CachePage } from '../features/cache/cache-page.tsx';
import { PurgeTab } from '../features/purge/purge-tab.tsx';

/** Rules and purges are features of their own; the reader finds both under Cache. */
export const CacheView = () => <CachePage purgeTab={<PurgeTab />} />;
