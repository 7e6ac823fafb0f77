import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import type { CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import { allRows, batches } from '../session.ts';
import type { ApplyContext } from './context.ts';
import { assertRowsUnchanged, sendChanged } from './conflicts.ts';
import { compareLists } from './difference.ts';
import { fieldLines, planned, type PlannedSection } from './plan.ts';

const RULES_OF_A_CALL = 200;

type Matched = Pick<CacheRuleInput, 'type' | 'value'>;
/** Rules have no name: one with other paths is another rule. */
const keyOf = ({ type, value }: Matched) => JSON.stringify([type, value]);

export async function planCacheRules(
  context: ApplyContext,
  wanted: readonly CacheRuleInput[],
): Promise<PlannedSection> {
  const { call, params, options } = context;
  const read = () => allRows((page) => call(cacheRules.list, { params, query: page }));
  const rows = await read();
  const difference = compareLists(wanted, rows, keyOf);
  const { added, changed, removed } = difference;
  return {
    title: 'Cache rules',
    changes: planned(
      difference,
      ({ type, value }) => `${type} ${value.join(' ')}`,
      (row) => fieldLines(row, ['type', 'value']),
    ),
    difference,
    send: async () => {
      await assertRowsUnchanged(removed, read);
      for (const part of batches(removed, RULES_OF_A_CALL))
        await call(cacheRules.remove, { params, body: { ids: part.map(({ id }) => id) } }, options);
      await sendChanged(changed, {
        maxRows: RULES_OF_A_CALL,
        read,
        send: (rules, ifMatch) => call(cacheRules.update, { params, body: { rules } }, { ...options, ifMatch }),
      });
      for (const rules of batches(added, RULES_OF_A_CALL))
        await call(cacheRules.create, { params, body: { rules } }, options);
    },
  };
}
