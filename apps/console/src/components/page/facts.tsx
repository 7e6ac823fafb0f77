import type { ReactNode } from 'react';
import classes from './page.module.css';

/** What is known of a thing, term by term. */
export const Facts = ({ children }: { children: ReactNode }) => <dl className={classes['factList']}>{children}</dl>;

interface FactProps {
  term: string;
  /** Takes a line of its own. */
  wide?: boolean;
  children: ReactNode;
}

export const Fact = ({ term, wide = false, children }: FactProps) => (
  <div data-wide={wide || undefined}>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
);
