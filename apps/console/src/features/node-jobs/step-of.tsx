import type { RunStep } from '../../components/step-run/step-run.tsx';
import { lasted } from '../../lib/format.ts';
import type { T } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';
import classes from './node-jobs.module.css';
import { toneOfStep } from './tones.ts';
import type { NodeStep } from './use-node-job.ts';

/** One step for the list; error messages are in the output. */
export function stepOf(
  { name, state, fault, startedAt, endedAt }: NodeStep,
  now: number,
  t: T,
  language: Language,
): RunStep {
  const isTimed = startedAt !== null && (state === 'running' || endedAt !== null);
  return {
    key: name,
    tone: toneOfStep[state],
    state: t(`nodeJobs.stepState.${state}`),
    isWaiting: state === 'waiting',
    isCurrent: state === 'running',
    title: t(`nodeJobs.steps.${name}`),
    why: t(`nodeJobs.stepsWhy.${name}`),
    took: isTimed && lasted((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt), language),
    more: fault !== null && <div className={classes['fault']}>{t(`nodeJobs.faults.${fault}`)}</div>,
  };
}
