import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { useState } from 'react';
import { useKeepDraft, useKeptDraft } from '../../lib/drafts.ts';
import { toastError } from '../../lib/errors.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { draftOf, planOf, type DraftRule, type Rule } from './rules-draft.ts';

export type Drafting = ReturnType<typeof useDrafting>;

/** The page's rules: those that are live until one is touched, then a draft. */
export function useDrafting(siteId: string, published: readonly Rule[]) {
  const live = draftOf(published);
  const key = `cacheRules ${siteId}`;
  const [draft, setDraft] = useState(useKeptDraft(key, isRules));
  useKeepDraft(key, () => draft ?? undefined);
  const [open, setOpen] = useState<string | null>(null);
  const [publishing, setPublishing] = useState(false);
  const refreshes = ['sites'];
  const create = useAction(cacheRules.create, { refreshes, quiet: true });
  const update = useAction(cacheRules.update, { refreshes, quiet: true });
  const remove = useAction(cacheRules.remove, { refreshes, quiet: true });
  const rules = draft ?? live;

  const add = (rule: DraftRule, at = rules.length) => {
    setDraft(rules.toSpliced(at, 0, rule));
    setOpen(rule.key);
  };

  const publish = async (): Promise<boolean> => {
    const plan = planOf(live, rules);
    const params = { siteId };
    setPublishing(true);
    try {
      // New rules before old ones go, so that nothing is cached without the one or the other.
      if (plan.create.length > 0) {
        const made = await create.run({ params, body: { rules: plan.create } });
        // What is made is made, also if a later call fails: publishing again must not make it twice.
        const ids = new Map(plan.created.map((key, i) => [key, made?.data[i]?.id ?? null]));
        setDraft(rules.map((rule) => withID(rule, ids.get(rule.key))));
      }
      if (plan.update.length > 0) await update.run({ params, body: { rules: plan.update } });
      if (plan.remove.length > 0) await remove.run({ params, body: { ids: plan.remove } });
      setDraft(null);
      setOpen(null);
      return true;
    } catch (error) {
      toastError(error);
      return false;
    } finally {
      setPublishing(false);
    }
  };
  const discard = () => {
    setDraft(null);
    setOpen(null);
  };
  return { live, rules, set: setDraft, open, setOpen, add, publish, publishing, discard };
}

const isRules = (kept: unknown): kept is DraftRule[] =>
  Array.isArray(kept) && kept.every((rule) => typeof rule === 'object' && rule !== null && 'cacheTime' in rule);

const withID = (rule: DraftRule, id: string | null | undefined) => (id ? { ...rule, id, key: id } : rule);
