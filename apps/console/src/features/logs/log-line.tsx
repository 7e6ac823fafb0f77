import type { ReactNode } from 'react';
import classes from './logs.module.css';

interface LogLineProps {
  id: string;
  /** A pill with the status. */
  mark: ReactNode;
  /** A link in it opens the row from everywhere on it. */
  text: ReactNode;
  below: ReactNode;
  isOpen?: boolean;
}

/** A row of a log on phones, in a list with the class `lines`. */
export const LogLine = ({ id, mark, text, below, isOpen = false }: LogLineProps) => (
  <li data-row={id} data-open={isOpen || undefined}>
    {mark}
    <div className={classes['lineText']}>
      {text}
      <div className={classes['lineBelow']}>{below}</div>
    </div>
  </li>
);
