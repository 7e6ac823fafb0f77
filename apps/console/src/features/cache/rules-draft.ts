import type { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { newKey, type Draft } from '../../components/rules/drafts.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type Rule = Received<typeof cacheRules.list>['data'][number];
export type DraftRule = Draft<Rule>;

export const newRule = (given: Partial<DraftRule> = {}): DraftRule => ({
  type: 'prefix',
  value: [],
  cacheTime: 86_400,
  honourOrigin: false,
  query: 'all',
  queryNames: [],
  enabled: true,
  priority: 0,
  ...given,
  id: null,
  key: newKey(),
});

/** Files that change their name when they change. */
export const staticFiles = () =>
  newRule({
    type: 'fileType',
    value: ['avif', 'css', 'gif', 'ico', 'jpg', 'jpeg', 'js', 'png', 'svg', 'webp', 'woff2'],
    cacheTime: 30 * 86_400,
  });

export const fieldsOf = ({ type, value, cacheTime, honourOrigin, query, queryNames, enabled }: DraftRule) => ({
  type,
  value,
  cacheTime,
  honourOrigin,
  query,
  enabled,
  queryNames: query === 'listed' ? queryNames : [],
});
/** By field. */
export function faultsOf(rule: DraftRule): Partial<Record<'value' | 'cacheTime' | 'queryNames', Issue>> {
  const faults: Record<string, Issue> = {};
  for (const issue of issuesOf(CacheRuleInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}
