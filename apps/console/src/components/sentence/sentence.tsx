import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './sentence.module.css';

/** A rule as a sentence: `IF path starts with /img/ THEN cache for 30 days`. */
export const Sentence = ({ children }: { children: ReactNode }) => (
  <span className={classes['sentence']}>{children}</span>
);

const joint = (word: 'common.rule.if' | 'common.rule.and' | 'common.rule.or' | 'common.rule.then') =>
  function Joint() {
    const t = useT();
    return <span className={classes['joint']}>{t(word)}</span>;
  };
export const If = joint('common.rule.if');
export const And = joint('common.rule.and');
export const Or = joint('common.rule.or');
export const Then = joint('common.rule.then');

/** Literal user input. */
export const Lit = ({ children }: { children: ReactNode }) => <code className={classes['literal']}>{children}</code>;

/** The rule's effect; blocking effects are red. */
export const Effect = ({ children, refuse = false }: { children: ReactNode; refuse?: boolean }) => (
  <span className={classes['effect']} data-refuse={refuse || undefined}>
    {children}
  </span>
);
