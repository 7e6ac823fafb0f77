import { IconCheck } from '@tabler/icons-react';
import classes from './steps.module.css';

interface StepMarkProps {
  number: number;
  isCurrent: boolean;
  isDone: boolean;
}

/** The circle before a step of a wizard: its number, or a check once it is done. */
export const StepMark = ({ number, isCurrent, isDone }: StepMarkProps) => (
  <span className={classes['mark']} data-current={isCurrent || undefined} data-done={isDone || undefined} aria-hidden>
    {isDone ? <IconCheck size={14} stroke={2} /> : number}
  </span>
);
