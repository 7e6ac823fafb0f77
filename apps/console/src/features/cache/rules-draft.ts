// The rules of a site as one draft: edited, ordered and switched on the page, published together.
import type { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import type { Received, Sent } from '@edgeloom/contract/endpoint.ts';
import type { T } from '../../lib/i18n.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type Rule = Received<typeof cacheRules.list>['data'][number];

export interface DraftRule extends Omit<Rule, 'id' | 'priority' | 'createdAt' | 'updatedAt'> {
  /** Null until it is published. */
  id: string | null;
  key: string;
  /** Where it stood when it was published; the place in the list decides what it becomes. */
  priority: number;
}

// A draft may come back after a reload, with the keys it had.
let made = Date.now();
const newKey = () => `new${(made += 1)}`;

export const draftOf = (rules: readonly Rule[]): DraftRule[] =>
  rules.map(({ createdAt: _, updatedAt: __, ...rule }) => ({ ...rule, key: rule.id }));

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

export function moved(rules: readonly DraftRule[], key: string, to: number): DraftRule[] {
  const from = rules.findIndex((rule) => rule.key === key);
  const rule = rules[from];
  if (!rule || to < 0 || to >= rules.length) return [...rules];
  const rest = rules.toSpliced(from, 1);
  return rest.toSpliced(to, 0, rule);
}

const HIGHEST = 10_000;

/** Numbers that put the rules into the list's order and change as few of them as they can. */
export function prioritiesOf(rules: readonly DraftRule[]): number[] {
  let last = -1;
  const kept = rules.map((rule) => {
    const fits = rule.id !== null && rule.priority > last;
    last = fits ? rule.priority : last + 1;
    return last;
  });
  const step = Math.max(1, Math.floor(HIGHEST / (rules.length + 1)));
  return last > HIGHEST ? rules.map((_, i) => Math.min(10, step) * (i + 1)) : kept;
}

const fieldsOf = ({ type, value, cacheTime, honourOrigin, query, queryNames, enabled }: DraftRule) => ({
  type,
  value,
  cacheTime,
  honourOrigin,
  query,
  enabled,
  queryNames: query === 'listed' ? queryNames : [],
});
const same = (a: DraftRule, b: DraftRule) => JSON.stringify(fieldsOf(a)) === JSON.stringify(fieldsOf(b));

export interface Plan {
  create: Sent<typeof cacheRules.create>['body']['rules'];
  /** The keys of those that are created, in the same order. */
  created: string[];
  update: Sent<typeof cacheRules.update>['body']['rules'];
  remove: string[];
}

export function planOf(live: readonly DraftRule[], draft: readonly DraftRule[]): Plan {
  const before = new Map(live.map((rule) => [rule.key, rule]));
  const kept = new Set(draft.map(({ key }) => key));
  const priorities = prioritiesOf(draft);
  const placed = draft.map((rule, i) => ({ rule, priority: priorities[i] ?? 0, was: before.get(rule.key) }));
  const created = placed.filter(({ rule }) => rule.id === null);
  return {
    create: created.map(({ rule, priority }) => ({ ...fieldsOf(rule), priority })),
    created: created.map(({ rule }) => rule.key),
    update: placed.flatMap(({ rule, priority, was }) =>
      rule.id === null || (was && same(was, rule) && was.priority === priority)
        ? []
        : [{ id: rule.id, ...fieldsOf(rule), priority }],
    ),
    remove: live.flatMap(({ key, id }) => (id === null || kept.has(key) ? [] : [id])),
  };
}

/** Is this rule another than the one that is live? */
export const differs = (live: readonly DraftRule[], rule: DraftRule) => {
  const was = live.find(({ key }) => key === rule.key);
  return !was || !same(was, rule);
};

export function changesOf(live: readonly DraftRule[], draft: readonly DraftRule[], t: T): string[] {
  const kept = draft.filter(({ id }) => id !== null).map(({ key }) => key);
  const order = live.map(({ key }) => key).filter((key) => kept.includes(key));
  return [
    ...draft.flatMap((rule, i) => {
      const was = live.find(({ key }) => key === rule.key);
      const n = i + 1;
      if (!was) return [t('cache.bar.added')];
      if (same({ ...was, enabled: rule.enabled }, rule))
        return was.enabled === rule.enabled ? [] : [t(rule.enabled ? 'cache.bar.on' : 'cache.bar.off', { n })];
      return [t('cache.bar.changed', { n })];
    }),
    ...live.flatMap(({ key }, i) => (kept.includes(key) ? [] : [t('cache.bar.removed', { n: i + 1 })])),
    ...(order.join() === kept.join() ? [] : [t('cache.bar.reordered')]),
  ];
}

/** By field. */
export function faultsOf(rule: DraftRule): Partial<Record<'value' | 'cacheTime' | 'queryNames', Issue>> {
  const faults: Record<string, Issue> = {};
  for (const issue of issuesOf(CacheRuleInput, { ...fieldsOf(rule), priority: 0 }))
    faults[issue.path.split('.')[0] ?? ''] ??= issue;
  return faults;
}

/** `jpg, png` and a list of lines alike. A pattern may hold blanks and commas. */
export const valuesOf = (type: Rule['type'], text: string) =>
  (type === 'regex'
    ? [text.trim()]
    : type === 'fileType'
      ? text
          .toLowerCase()
          .split(/[\s,，、]+/)
          .map((word) => word.replace(/^\.+/, ''))
      : text.split('\n').map((line) => line.trim())
  ).filter((value) => value !== '');
