import { useEffect, useRef, useState, type ComponentType } from 'react';
import { useT } from '../../lib/i18n.ts';
import { moved, type AnyDraft } from './drafts.ts';
import { useRuleMatches } from './rule-matches.tsx';
import { RuleRow } from './rule-row.tsx';
import classes from './rules.module.css';
import type { Drafting } from './use-drafting.ts';

/** How rules of a list are shown and edited. */
export interface RuleKind<D extends AnyDraft> {
  sentence: ComponentType<{ rule: D }>;
  editor: ComponentType<EditorProps<D>>;
}

export interface EditorProps<D extends AnyDraft> {
  rule: D;
  /** Publishing failed at this rule, so all errors are shown. */
  tried: boolean;
  onChange: (rule: D) => void;
}

interface RuleListProps<D extends AnyDraft> extends RuleKind<D> {
  drafting: Drafting<D>;
  /** Name of the list. */
  label: string;
}

const FIELD = ':is(textarea, input:not([type="checkbox"], [type="radio"], [type="hidden"], [readonly]))';

/** Rules in order, each as a sentence with an editor. Changes stay a draft until published. */
export function RuleList<D extends AnyDraft>({
  drafting,
  label,
  sentence: Sentence,
  editor: Editor,
}: RuleListProps<D>) {
  const t = useT();
  const { rules, set, open, setOpen, locked, refused } = drafting;
  const [moving, setMoving] = useState('');
  const matches = useRuleMatches();
  const list = useRef<HTMLOListElement>(null);
  // The first field of a new rule has focus.
  const added = rules.find(({ key, id }) => key === open && id === null)?.key;
  useEffect(() => {
    if (added !== undefined) list.current?.querySelector<HTMLElement>(`[data-rule="${added}"] ${FIELD}`)?.focus();
  }, [added]);
  // A failed attempt focuses the first field with an error.
  useEffect(() => {
    if (refused)
      list.current?.querySelector<HTMLElement>(`[data-rule="${refused.key}"] [aria-invalid="true"]`)?.focus();
  }, [refused]);
  const move = (key: string, to: number) => {
    if (to < 0 || to >= rules.length) return;
    set(moved(rules, key, to));
    setMoving(t('shared.rules.moved', { n: to + 1 }));
    // A moved row loses focus, which Alt ↑ needs.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-rule="${key}"] button`)?.focus());
  };
  return (
    <>
      {matches !== undefined && (
        <p className={classes['matchesTitle']} aria-hidden>
          {t('shared.rules.matchesTitle')}
        </p>
      )}
      <ol ref={list} className={classes['rules']} aria-label={label}>
        {rules.map((rule, i) => {
          const change = (changed: D) => set(rules.with(i, changed));
          return (
            <RuleRow
              key={rule.key}
              rule={rule}
              n={i + 1}
              count={rules.length}
              open={open === rule.key}
              draft={drafting.differs(rule)}
              locked={locked}
              matches={matches}
              sentence={<Sentence rule={rule} />}
              editor={open === rule.key && <Editor rule={rule} tried={refused?.key === rule.key} onChange={change} />}
              onOpen={(is) => setOpen(is ? rule.key : null)}
              onSwitch={(enabled) => change({ ...rule, enabled })}
              onMove={(to) => move(rule.key, to)}
              onDuplicate={() => drafting.duplicate(rule, i + 1)}
              onRemove={() => set(rules.toSpliced(i, 1))}
              onDrop={(key) => move(key, i)}
            />
          );
        })}
      </ol>
      <output className="hidden-text">{moving}</output>
    </>
  );
}
