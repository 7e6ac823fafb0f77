import { session } from '@edgeloom/contract/auth/auth.calls.ts';
import { Button } from '@mantine/core';
import { useId, useRef } from 'react';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { t as phrase, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useFocusHandover } from '../../lib/use-focus-handover.ts';
import { keepAccount, useSession } from '../../stores/session.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import classes from './dashboard.module.css';
import { firstSteps, isOpen, type Resources, type Step } from './first-steps-list.ts';
import { FormLink } from './form-link.tsx';

/** The first steps of a new operator. Shown until all are done, or until this account dismisses them. */
export function FirstSteps({ found }: { found: Resources | undefined }) {
  const can = useCan();
  const isHidden = useSession(({ account }) => account?.hidesFirstSteps !== false);
  if (found === undefined || isHidden) return null;
  const steps = firstSteps(found);
  const isUseful = steps.some(({ isDone, creates }) => !isDone && can(creates));
  return isUseful ? <Steps steps={steps} /> : null;
}

function Steps({ steps }: { steps: readonly Step[] }) {
  const t = useT();
  const can = useCan();
  const title = useId();
  const box = useRef<HTMLElement>(null);
  useFocusHandover(box, () => document.querySelector<HTMLElement>('main h1')?.focus());
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section ref={box} className={classes['steps']} aria-labelledby={title}>
      <header className={classes['stepsHead']}>
        <h2 id={title}>{t('dashboard.steps.title')}</h2>
        <span className={classes['quiet']}>{t('dashboard.steps.progress', { done, all: steps.length })}</span>
        {can(session.updateSelf) && (
          <Button variant="subtle" size="compact-sm" onClick={() => void dismiss()}>
            {t('dashboard.steps.dismiss')}
          </Button>
        )}
      </header>
      <ol className={classes['stepList']}>
        {steps.map((step) => (
          <StepRow key={step.name} step={step} isOpen={isOpen(step, steps)} />
        ))}
      </ol>
    </section>
  );
}

function StepRow({ step, isOpen }: { step: Step; isOpen: boolean }) {
  const t = useT();
  const can = useCan();
  const { name, isDone, after, creates, verb, to, opensForm } = step;
  return (
    <li className={classes['step']} data-state={isDone ? 'done' : isOpen ? 'open' : 'later'}>
      <StatusMark tone={isDone ? 'ok' : 'off'} label={t(isDone ? 'dashboard.steps.done' : 'dashboard.steps.notDone')} />
      <span className={classes['stepText']}>
        <b>{t(`dashboard.steps.names.${name}`)}</b>
        <small className={classes['which']}>{t(`dashboard.steps.why.${name}`)}</small>
        {isOpen && to !== null && can(creates) && (
          <FormLink to={to} opensForm={opensForm}>
            {t(verb)}
          </FormLink>
        )}
        {!isDone && !isOpen && after !== null && (
          <small className={classes['quiet']}>
            {t('dashboard.steps.after', { step: t(`dashboard.steps.names.${after}`) })}
          </small>
        )}
      </span>
    </li>
  );
}

async function hide(hidesFirstSteps: boolean): Promise<boolean> {
  try {
    keepAccount(await call(session.updateSelf, { body: { hidesFirstSteps } }));
    return true;
  } catch (error) {
    toastError(error);
    return false;
  }
}

async function dismiss() {
  if (await hide(true))
    toastWithUndo(phrase('dashboard.steps.dismissed'), async () => {
      await hide(false);
    });
}
