import { Button } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { StepMark } from '../../components/steps/step-mark.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import classes from './node-jobs.module.css';
import type { FormStep } from './use-install-form.ts';

export type StepName = FormStep | 'run';
const steps: readonly StepName[] = ['address', 'hostKey', 'place', 'run'];
const FIELDS = ':is(input, textarea):not([type="hidden"], [type="radio"], :disabled)';

interface InstallStepsProps {
  current: StepName;
  /** The furthest step so far; earlier steps can be reopened. */
  reached: StepName;
  skipped: readonly StepName[];
  onBack?: (step: StepName) => void;
  results: Record<FormStep, ReactNode>;
  fields: Record<FormStep, ReactNode>;
  submit: Word;
  canSubmit: boolean;
  busy: boolean;
  /** At the beginning of a press on the form. */
  onPress: () => void;
  onSubmit: () => void;
  /** Steps of the running job. */
  children: ReactNode;
}

/** Installation steps in a column. The current one is open, completed ones show their result. */
export function InstallSteps(props: InstallStepsProps) {
  const { current, reached, skipped, onBack, results, fields, submit, canSubmit, busy, onPress, onSubmit, children } =
    props;
  const t = useT();
  const form = useRef<HTMLFormElement>(null);
  const shown = useRef<StepName | null>(null);
  useEffect(() => {
    if (shown.current === current) return;
    // The fields of the opened step take focus, or the button that confirms the host key.
    if (current !== 'run')
      form.current?.querySelector<HTMLElement>(current === 'hostKey' ? 'button[type="submit"]' : FIELDS)?.focus();
    shown.current = current;
  }, [current]);
  const last = steps.indexOf(reached);
  return (
    <ol className={classes['wizard']} aria-label={t('common.steps')}>
      {steps
        .filter((step) => !skipped.includes(step))
        .map((step, i) => {
          const isCurrent = step === current;
          const isDone = !isCurrent && steps.indexOf(step) < Math.max(last, steps.indexOf(current));
          const title = <span className={classes['stepTitle']}>{t(`nodeJobs.wizard.${step}`)}</span>;
          const mark = <StepMark number={i + 1} isCurrent={isCurrent} isDone={isDone} />;
          return (
            <li key={step} aria-current={isCurrent ? 'step' : undefined}>
              {isDone && onBack && step !== 'run' ? (
                <button type="button" className={classes['stepHead']} onClick={() => onBack(step)}>
                  {mark}
                  {title}
                </button>
              ) : (
                <div className={classes['stepHead']}>
                  {mark}
                  {title}
                </div>
              )}
              {isDone && step !== 'run' && <div className={classes['stepResult']}>{results[step]}</div>}
              {isCurrent && step !== 'run' && (
                <form
                  onPointerDown={onPress}
                  ref={form}
                  noValidate
                  className={classes['stepFields']}
                  onSubmit={(event) => {
                    event.preventDefault();
                    onSubmit();
                    requestAnimationFrame(() =>
                      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
                    );
                  }}
                >
                  {fields[step]}
                  <div className={classes['stepButtons']}>
                    <Button type="submit" loading={busy} disabled={!canSubmit}>
                      {t(submit)}
                    </Button>
                  </div>
                </form>
              )}
              {step === 'run' && children}
            </li>
          );
        })}
    </ol>
  );
}
