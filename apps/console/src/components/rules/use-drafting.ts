import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { make, type Planned } from '../../lib/planned.ts';
import { refresh } from '../../lib/queries.ts';
import {
  changesOf,
  differs,
  newKey,
  onto,
  planOf,
  type AnyDraft,
  type FieldsOf,
  type Plan,
  type StoredDraft,
} from './drafts.ts';

interface Kind<D extends AnyDraft, Fields> {
  /** Storage key of the draft. */
  key: string;
  live: readonly D[];
  locked: boolean;
  fieldsOf: FieldsOf<D, Fields>;
  /** Errors by field; empty for a valid rule. */
  faultsOf: (rule: D) => object;
  /** Validates a rule of a stored draft. */
  isRule: (stored: object) => boolean;
  /** Endpoints of the list. Rules are sent and returned in the body's `field`, and removed by id. */
  calls: Record<'create' | 'update' | 'remove', Endpoint>;
  params: Readonly<Record<string, string>>;
  field: string;
  refreshes?: readonly string[];
}

/** The published rules until one is changed, then a draft. */
export function useDrafting<D extends AnyDraft, Fields extends object>(kind: Kind<D, Fields>) {
  const { key, live, locked, fieldsOf, faultsOf, calls, params, field, refreshes = [] } = kind;
  const t = useT();
  const isDraft = (stored: unknown): stored is StoredDraft<D> =>
    typeof stored === 'object' &&
    stored !== null &&
    'known' in stored &&
    'rules' in stored &&
    Array.isArray(stored.rules) &&
    stored.rules.every((rule) => typeof rule === 'object' && rule !== null && kind.isRule(rule));
  const restored = useStoredDraft(key, isDraft);
  const [draft, setDraft] = useState(restored);
  const [isRestored, setRestored] = useState(restored !== null);
  const [open, setOpen] = useState<string | null>(null);
  const [refused, setRefused] = useState<{ key: string } | null>(null);
  const [publishing, setPublishing] = useState(false);
  const rules = draft ? onto(live, draft) : live;

  const changes = draft ? changesOf(live, rules, fieldsOf, t) : [];
  useKeepDraft(key, () => (draft && changes.length > 0 ? draft : undefined));

  const set = (changed: D[]) => setDraft({ rules: changed, known: live.map((rule) => rule.key) });
  const add = (rule: D, at = rules.length) => {
    set(rules.toSpliced(at, 0, rule));
    setOpen(rule.key);
  };
  const discard = () => {
    setDraft(null);
    setOpen(null);
    setRefused(null);
    setRestored(false);
  };

  /** New rules are created before old ones are removed, so that requests are always covered. */
  const callsFor = ({ create, update, remove }: Plan<Fields>): Planned[] => [
    ...(create.length > 0 ? [{ endpoint: calls.create, params, body: { [field]: create } }] : []),
    ...(update.length > 0 ? [{ endpoint: calls.update, params, body: { [field]: update } }] : []),
    ...(remove.length > 0 ? [{ endpoint: calls.remove, params, body: { ids: remove } }] : []),
  ];
  /** Null if a rule is invalid; the first such rule's editor opens. */
  const planned = (): Plan<Fields> | null => {
    const wrong = rules.find((rule) => Object.keys(faultsOf(rule)).length > 0);
    if (!wrong) return planOf(live, rules, fieldsOf);
    setOpen(wrong.key);
    setRefused({ key: wrong.key });
    return null;
  };

  const publish = async (): Promise<boolean> => {
    const plan = planned();
    if (!plan) return false;
    setPublishing(true);
    try {
      for (const one of callsFor(plan)) {
        const reply = await make(one);
        if (one.endpoint === calls.create) {
          // If a later call fails, publishing again must not create these rules twice.
          const made = idsOf(reply);
          const ids = new Map(plan.created.map((created, i) => [created, made[i] ?? null]));
          set(rules.map((rule) => withID(rule, ids.get(rule.key))));
        }
        await refresh([one.endpoint.feature, ...refreshes]);
      }
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
    set,
    refused,
    isRestored,
    duplicate: (rule: D, at: number) => add({ ...rule, id: null, key: newKey() }, at),
    differs: (rule: D) => differs(live, rule, fieldsOf),
    changes,
    publish,
    /** Calls that publishing would send; null if a rule is invalid. */
    plan: () => {
      const plan = planned();
      return plan && callsFor(plan);
    },
    publishing,
    discard,
  };
}

export type Drafting<D extends AnyDraft> = ReturnType<typeof useDrafting<D, object>>;

/** In the order of the request. */
const idsOf = (reply: unknown): string[] =>
  typeof reply === 'object' && reply !== null && 'data' in reply && Array.isArray(reply.data)
    ? reply.data.flatMap((one: unknown) =>
        typeof one === 'object' && one !== null && 'id' in one && typeof one.id === 'string' ? [one.id] : [],
      )
    : [];

const withID = <D extends AnyDraft>(rule: D, id: string | null | undefined) => (id ? { ...rule, id, key: id } : rule);
