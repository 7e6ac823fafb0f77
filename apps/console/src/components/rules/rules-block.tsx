import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useId } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import type { AnyDraft } from './drafts.ts';
import { RuleList, type RuleKind } from './rule-list.tsx';
import classes from './rules.module.css';
import type { Drafting } from './use-drafting.ts';

interface RulesBlockProps<D extends AnyDraft> extends RuleKind<D> {
  drafting: Drafting<D>;
  title: Word;
  why: Word;
  /** Text about which of several rules applies. */
  order: Word;
  /** Label of the add button. */
  add: Word;
  newRule: () => D;
}

/** One of several lists on a page. */
export function RulesBlock<D extends AnyDraft>({
  drafting,
  title,
  why,
  order,
  add,
  newRule,
  ...kind
}: RulesBlockProps<D>) {
  const t = useT();
  const heading = useId();
  return (
    <section className={classes['panel']} aria-labelledby={heading}>
      <div className={classes['blockHead']}>
        <div>
          <h2 id={heading} className={classes['blockTitle']}>
            {t(title)}
          </h2>
          <p className={classes['order']}>
            {t(why)} {drafting.rules.length > 1 && t(order)}
          </p>
        </div>
        {!drafting.locked && (
          <Button
            variant="default"
            data-creates={add}
            leftSection={<IconPlus size={15} stroke={1.8} />}
            onClick={() => drafting.add(newRule())}
          >
            {t(add)}
          </Button>
        )}
      </div>
      {drafting.rules.length > 0 && <RuleList drafting={drafting} label={t(title)} {...kind} />}
    </section>
  );
}
