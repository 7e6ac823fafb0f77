import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { draftOf } from '../../components/rules/drafts.ts';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { faultsOf, fieldsOf, type Rule } from './rules-draft.ts';

export function useCacheRules(siteId: string, published: readonly Rule[]) {
  const can = useCan();
  const told = { refreshes: ['sites'], quiet: true };
  const create = useAction(cacheRules.create, told);
  const update = useAction(cacheRules.update, told);
  const remove = useAction(cacheRules.remove, told);
  const params = { siteId };
  return useDrafting({
    key: `cacheRules ${siteId}`,
    live: draftOf(published),
    locked: !can(cacheRules.update),
    fieldsOf,
    faultsOf,
    // One that an earlier console kept says too little.
    isRule: (kept) => 'cacheTime' in kept && 'cookies' in kept,
    create: async (rules) => (await create.run({ params, body: { rules } }))?.data.map(({ id }) => id) ?? [],
    update: (rules) => update.run({ params, body: { rules } }),
    remove: (ids) => remove.run({ params, body: { ids } }),
  });
}
