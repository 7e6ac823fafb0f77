// A list of rules as one draft, which is edited and published as a whole.
import type { T } from '../../lib/i18n.ts';

/** Fields of a published rule in the API. */
interface Published {
  id: string;
  priority: number;
  createdAt: string;
  updatedAt: string;
}

export type Draft<Rule extends Published> = Omit<Rule, 'id' | 'createdAt' | 'updatedAt'> & Pick<AnyDraft, 'id' | 'key'>;

/** Fields of every draft rule. */
export interface AnyDraft {
  /** Null until published. */
  id: string | null;
  key: string;
  /** Published priority. The position in the list determines the new one. */
  priority: number;
  enabled: boolean;
}

/** The draft of a list, and the keys of the rules that were published at the time. */
export interface StoredDraft<D extends AnyDraft> {
  rules: D[];
  known: string[];
}

/** Merges the draft with the published rules: rules added by others stay, rules removed by others disappear. */
export function onto<D extends AnyDraft>(live: readonly D[], { rules, known }: StoredDraft<D>): D[] {
  const published = new Set(live.map(({ key }) => key));
  const drafted = new Set([...known, ...rules.map(({ key }) => key)]);
  return [
    ...rules.filter(({ key }) => published.has(key) || !known.includes(key)),
    ...live.filter(({ key }) => !drafted.has(key)),
  ];
}

// A restored draft contains earlier keys.
let made = Date.now();
export const newKey = () => `new${(made += 1)}`;

export const draftOf = <Rule extends Published>(rules: readonly Rule[]): Draft<Rule>[] =>
  rules.map(({ id, createdAt: _, updatedAt: __, ...rule }) => ({ ...rule, id, key: id }));

export function moved<D extends AnyDraft>(rules: readonly D[], key: string, to: number): D[] {
  const from = rules.findIndex((rule) => rule.key === key);
  const rule = rules[from];
  if (!rule || to < 0 || to >= rules.length) return [...rules];
  const rest = rules.toSpliced(from, 1);
  return rest.toSpliced(to, 0, rule);
}

const HIGHEST = 10_000;

/** Priorities that match the list's order with as few changes as possible. */
export function prioritiesOf(rules: readonly AnyDraft[]): number[] {
  let last = -1;
  const priorities = rules.map((rule) => {
    const fits = rule.id !== null && rule.priority > last;
    last = fits ? rule.priority : last + 1;
    return last;
  });
  const step = Math.max(1, Math.floor(HIGHEST / (rules.length + 1)));
  return last > HIGHEST ? rules.map((_, i) => Math.min(10, step) * (i + 1)) : priorities;
}

/** Fields to send, without the priority. */
export type FieldsOf<D extends AnyDraft, Fields> = (rule: D) => Fields;

const same = <D extends AnyDraft>(a: D, b: D, fieldsOf: FieldsOf<D, object>) =>
  JSON.stringify(fieldsOf(a)) === JSON.stringify(fieldsOf(b));

export interface Plan<Fields> {
  create: (Fields & { priority: number })[];
  /** Keys of the created rules, in the same order. */
  created: string[];
  update: (Fields & { id: string; priority: number })[];
  remove: string[];
}

export function planOf<D extends AnyDraft, Fields extends object>(
  live: readonly D[],
  draft: readonly D[],
  fieldsOf: FieldsOf<D, Fields>,
): Plan<Fields> {
  const before = new Map(live.map((rule) => [rule.key, rule]));
  const draftKeys = new Set(draft.map(({ key }) => key));
  const priorities = prioritiesOf(draft);
  const placed = draft.map((rule, i) => ({ rule, priority: priorities[i] ?? 0, was: before.get(rule.key) }));
  const created = placed.filter(({ rule }) => rule.id === null);
  return {
    create: created.map(({ rule, priority }) => ({ ...fieldsOf(rule), priority })),
    created: created.map(({ rule }) => rule.key),
    update: placed.flatMap(({ rule, priority, was }) =>
      rule.id === null || (was && same(was, rule, fieldsOf) && was.priority === priority)
        ? []
        : [{ ...fieldsOf(rule), id: rule.id, priority }],
    ),
    remove: live.flatMap(({ key, id }) => (id === null || draftKeys.has(key) ? [] : [id])),
  };
}

/** Whether the rule differs from the published one. */
export const differs = <D extends AnyDraft>(live: readonly D[], rule: D, fieldsOf: FieldsOf<D, object>) => {
  const was = live.find(({ key }) => key === rule.key);
  return !was || !same(was, rule, fieldsOf);
};

export function changesOf<D extends AnyDraft>(
  live: readonly D[],
  draft: readonly D[],
  fieldsOf: FieldsOf<D, object>,
  t: T,
): string[] {
  const storedKeys = draft.filter(({ id }) => id !== null).map(({ key }) => key);
  const order = live.map(({ key }) => key).filter((key) => storedKeys.includes(key));
  return [
    ...draft.flatMap((rule, i) => {
      const was = live.find(({ key }) => key === rule.key);
      const n = i + 1;
      if (!was) return [t('shared.rules.added')];
      if (same({ ...was, enabled: rule.enabled }, rule, fieldsOf))
        return was.enabled === rule.enabled
          ? []
          : [t(rule.enabled ? 'shared.rules.turnedOn' : 'shared.rules.turnedOff', { n })];
      return [t('shared.rules.changed', { n })];
    }),
    ...live.flatMap(({ key }, i) => (storedKeys.includes(key) ? [] : [t('shared.rules.removed', { n: i + 1 })])),
    ...(order.join() === storedKeys.join() ? [] : [t('shared.rules.reordered')]),
  ];
}
