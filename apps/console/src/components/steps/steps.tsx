import { IconCheck } from '@tabler/icons-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import classes from './steps.module.css';

export interface Step {
  title: Word;
  /** What was settled in it. */
  result?: ReactNode;
}

const FIELDS = ':is(input, textarea):not([type="hidden"], :disabled)';

interface StepsProps {
  steps: readonly Step[];
  current: number;
  /** Back to one that is done, whose content is as it was left; left out once nothing can be changed any more. */
  onBack?: (to: number) => void;
  children: ReactNode;
}

/** A page in steps: which there are at the left, each with its result, and the present one beside them. */
export function Steps({ steps, current, onBack, children }: StepsProps) {
  const t = useT();
  const content = useRef<HTMLDivElement>(null);
  const shown = useRef(current);
  // What was pressed has gone with its step: who works by keyboard goes on in the next one, not at the top of the page.
  useEffect(() => {
    if (shown.current === current) return;
    shown.current = current;
    (content.current?.querySelector<HTMLElement>(FIELDS) ?? content.current)?.focus();
  }, [current]);
  return (
    <div className={classes['wizard']}>
      <ol className={classes['steps']} aria-label={t('common.steps')}>
        {steps.map(({ title, result }, i) => {
          const isDone = i < current;
          const label = (
            <>
              <span className={classes['mark']} aria-hidden>
                {isDone ? <IconCheck size={14} stroke={2} /> : i + 1}
              </span>
              <span className={classes['title']}>{t(title)}</span>
              {isDone && result !== undefined && <span className={classes['result']}>{result}</span>}
            </>
          );
          return (
            <li key={title} aria-current={i === current ? 'step' : undefined} data-done={isDone || undefined}>
              {isDone && onBack ? (
                <button type="button" className={classes['step']} onClick={() => onBack(i)}>
                  {label}
                </button>
              ) : (
                <div className={classes['step']}>{label}</div>
              )}
            </li>
          );
        })}
      </ol>
      <div ref={content} className={classes['content']} tabIndex={-1}>
        {children}
      </div>
    </div>
  );
}
