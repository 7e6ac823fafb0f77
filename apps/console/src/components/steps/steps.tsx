import { useEffect, useRef, type ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import { StepMark } from './step-mark.tsx';
import classes from './steps.module.css';

interface Step {
  title: Word;
  /** Summary of a completed step. */
  result?: ReactNode;
}

// An unchosen radio button with focus looks chosen.
const FIELDS = ':is(input, textarea):not([type="hidden"], :disabled, [type="radio"]:not(:checked))';

interface StepsProps {
  steps: readonly Step[];
  current: number;
  /** Returns to a completed step and keeps its input. Undefined once nothing can be changed. */
  onBack?: (to: number) => void;
  children: ReactNode;
}

/** A wizard page: steps with results on the left, the current step beside them. */
export function Steps({ steps, current, onBack, children }: StepsProps) {
  const t = useT();
  const content = useRef<HTMLDivElement>(null);
  const shown = useRef(current);
  // The pressed button disappears with its step, so move focus to the next step.
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
              <StepMark number={i + 1} isCurrent={i === current} isDone={isDone} />
              <span className={classes['title']}>{t(title)}</span>
              {isDone && result !== undefined && <span className={classes['result']}>{result}</span>}
            </>
          );
          return (
            <li key={title} aria-current={i === current ? 'step' : undefined}>
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
