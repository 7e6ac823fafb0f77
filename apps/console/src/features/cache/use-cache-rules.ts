import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { draftOf } from '../../components/rules/drafts.ts';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { useCan } from '../../lib/use-can.ts';
import { faultsOf, fieldsOf, type Rule } from './rules-draft.ts';

export function useCacheRules(siteId: string, published: readonly Rule[]) {
  const can = useCan();
  return useDrafting({
    key: `cacheRules ${siteId}`,
    live: draftOf(published),
    locked: !can(cacheRules.update),
    fieldsOf,
    faultsOf,
    // Drafts of older consoles lack fields.
    isRule: (kept) => 'cacheTime' in kept && 'overrideOrigin' in kept,
    calls: cacheRules,
    params: { siteId },
    field: 'rules',
    refreshes: ['sites'],
  });
}
