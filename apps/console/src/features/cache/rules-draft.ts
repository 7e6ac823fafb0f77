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
  minTime: null,
  maxTime: null,
  browserTime: null,
  staleWhileRevalidate: null,
  staleIfError: null,
  query: 'all',
  queryNames: [],
  cookies: 'none',
  cookieNames: [],
  passCookies: [],
  stripCookies: false,
  slices: false,
  overrideOrigin: false,
  enabled: true,
  priority: 0,
  ...given,
  id: null,
  key: newKey(),
});

/** Rule for static files with versioned names. */
export const staticFiles = () =>
  newRule({
    type: 'fileType',
    value: ['avif', 'css', 'gif', 'ico', 'jpg', 'jpeg', 'js', 'png', 'svg', 'webp', 'woff2'],
    cacheTime: 30 * 86_400,
  });

export const fieldsOf = ({
  id: _,
  key: __,
  priority: ___,
  queryNames,
  cookieNames,
  minTime,
  maxTime,
  ...rule
}: DraftRule) => ({
  ...rule,
  queryNames: rule.query === 'listed' ? queryNames : [],
  cookieNames: rule.cookies === 'listed' ? cookieNames : [],
  minTime: rule.honourOrigin ? minTime : null,
  maxTime: rule.honourOrigin ? maxTime : null,
});

export const actions = ['cache', 'origin', 'never'] as const;
/** Zero seconds with `honourOrigin` means: cache only as the origin's headers allow. */
export const actionOf = ({ cacheTime, honourOrigin }: DraftRule): (typeof actions)[number] =>
  cacheTime > 0 ? 'cache' : honourOrigin ? 'origin' : 'never';

/** Whether the rule uses no advanced options. */
export const isPlain = (rule: DraftRule) =>
  rule.cookies === 'none' &&
  rule.passCookies.length === 0 &&
  !rule.stripCookies &&
  !rule.slices &&
  !rule.overrideOrigin &&
  [rule.browserTime, rule.staleWhileRevalidate, rule.staleIfError, rule.minTime, rule.maxTime].every(
    (time) => time === null,
  );

type CheckedField = 'value' | 'cacheTime' | 'queryNames' | 'cookieNames' | 'passCookies' | 'maxTime';
/** Errors by field. */
export function faultsOf(rule: DraftRule): Partial<Record<CheckedField, Issue>> {
  const faults: Record<string, Issue> = {};
  for (const issue of issuesOf(CacheRuleInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}
