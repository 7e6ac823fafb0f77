import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './sentence.module.css';

/** A rule as a sentence: `IF path starts with /img/ THEN cache for 30 days`. */
export const Sentence = ({ children }: { children: ReactNode }) => (
  <span className={classes['sentence']}>{children}</span>
);

const joint = (word: 'shared.rule.if' | 'shared.rule.and' | 'shared.rule.or' | 'shared.rule.then') =>
  function Joint() {
    const t = useT();
    return <span className={classes['joint']}>{t(word)}</span>;
  };
export const If = joint('shared.rule.if');
export const And = joint('shared.rule.and');
export const Or = joint('shared.rule.or');
export const Then = joint('shared.rule.then');

/** Literal user input. */
export const Lit = ({ children }: { children: ReactNode }) => <code className={classes['literal']}>{children}</code>;

/** The rule's effect; blocking effects are red. */
export const Effect = ({ children, refuse = false }: { children: ReactNode; refuse?: boolean }) => (
  <span className={classes['effect']} data-refuse={refuse || undefined}>
    {children}
  </span>
);
