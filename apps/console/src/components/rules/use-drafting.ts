import { useState } from 'react';
import { useKeepDraft, useKeptDraft } from '../../lib/drafts.ts';
import { toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { changesOf, differs, newKey, planOf, type AnyDraft, type FieldsOf, type Plan } from './drafts.ts';

interface Kind<D extends AnyDraft, Fields> {
  /** Of which list of which place the draft is. */
  key: string;
  live: readonly D[];
  locked: boolean;
  fieldsOf: FieldsOf<D, Fields>;
  /** By field; nothing where it can be published. */
  faultsOf: (rule: D) => object;
  /** Is what was kept from an earlier session such a rule? */
  isRule: (kept: object) => boolean;
  /** Answers the ids, in the same order. */
  create: (rules: Plan<Fields>['create']) => Promise<readonly string[]>;
  update: (rules: Plan<Fields>['update']) => Promise<unknown>;
  remove: (ids: string[]) => Promise<unknown>;
}

/** The rules of a list: those that are live until one is touched, then a draft. The calls throw, and what they throw is shown. */
export function useDrafting<D extends AnyDraft, Fields extends object>(kind: Kind<D, Fields>) {
  const { key, live, locked, fieldsOf, faultsOf } = kind;
  const t = useT();
  const isDraft = (kept: unknown): kept is D[] =>
    Array.isArray(kept) && kept.every((rule) => typeof rule === 'object' && rule !== null && kind.isRule(rule));
  const [draft, setDraft] = useState(useKeptDraft(key, isDraft));
  useKeepDraft(key, () => draft ?? undefined);
  const [open, setOpen] = useState<string | null>(null);
  const [publishing, setPublishing] = useState(false);
  const rules = draft ?? live;

  const add = (rule: D, at = rules.length) => {
    setDraft(rules.toSpliced(at, 0, rule));
    setOpen(rule.key);
  };
  const discard = () => {
    setDraft(null);
    setOpen(null);
  };

  /** Opens the first rule that cannot be published, or publishes all. */
  const publish = async (): Promise<boolean> => {
    const wrong = rules.find((rule) => Object.keys(faultsOf(rule)).length > 0);
    if (wrong) {
      setOpen(wrong.key);
      return false;
    }
    const plan = planOf(live, rules, fieldsOf);
    setPublishing(true);
    try {
      // New rules before old ones go, so that nothing passes without the one or the other.
      if (plan.create.length > 0) {
        const made = await kind.create(plan.create);
        // What is made is made, also if a later call fails: publishing again must not make it twice.
        const ids = new Map(plan.created.map((made_, i) => [made_, made[i] ?? null]));
        setDraft(rules.map((rule) => withID(rule, ids.get(rule.key))));
      }
      if (plan.update.length > 0) await kind.update(plan.update);
      if (plan.remove.length > 0) await kind.remove(plan.remove);
      discard();
      return true;
    } catch (error) {
      toastError(error);
      return false;
    } finally {
      setPublishing(false);
    }
  };
  return {
    rules,
    locked,
    open,
    setOpen,
    add,
    set: setDraft,
    duplicate: (rule: D, at: number) => add({ ...rule, id: null, key: newKey() }, at),
    differs: (rule: D) => differs(live, rule, fieldsOf),
    changes: draft ? changesOf(live, draft, fieldsOf, t) : [],
    publish,
    publishing,
    discard,
  };
}

export type Drafting<D extends AnyDraft> = ReturnType<typeof useDrafting<D, object>>;

const withID = <D extends AnyDraft>(rule: D, id: string | null | undefined) => (id ? { ...rule, id, key: id } : rule);
