import type { ReactNode } from 'react';
import classes from './page.module.css';

/** A description list of an object's properties. */
export const Facts = ({ children }: { children: ReactNode }) => <dl className={classes['factList']}>{children}</dl>;

interface FactProps {
  term: string;
  /** Spans the whole width. */
  wide?: boolean;
  children: ReactNode;
}

export const Fact = ({ term, wide = false, children }: FactProps) => (
  <div data-wide={wide || undefined}>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </div>
);
