import { SegmentedControl } from '@mantine/core';
import { IconAlertSquareRounded } from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { CopyIcon } from '../../components/values/copy.tsx';
import { tMaybe, useT } from '../../lib/i18n.ts';
import classes from './node-jobs.module.css';
import type { NodeJob, NodeStep } from './use-node-job.ts';

interface OutputProps {
  /** Shown before there are steps. */
  intro?: string;
  steps?: readonly NodeStep[];
  isOpen: boolean;
  /** The error that stopped the installation, above the output. */
  problem?: ReactNode;
  /** Replaces the output, for example by a command to copy. */
  children?: ReactNode;
}

/** Output of the machine, or the error. */
export function Output({ intro = '', steps = [], isOpen, problem, children }: OutputProps) {
  const t = useT();
  const [which, setWhich] = useState('all');
  const box = useRef<HTMLDivElement>(null);
  const current =
    steps.find(({ state }) => state === 'running' || state === 'failed') ??
    steps.findLast(({ output }) => output !== '');
  const shown = (which === 'all' ? steps : steps.filter((step) => step === current)).filter(
    ({ output }) => output !== '',
  );
  const text = `${intro}${shown.map(({ output }) => output).join('')}`;
  // Stop following when the reader scrolls back.
  const follows = useRef(true);
  const { length } = text;
  useEffect(() => {
    const element = box.current;
    if (element && length > 0 && follows.current) element.scrollTop = element.scrollHeight;
  }, [length]);
  return (
    <div className={classes['output']}>
      {problem}
      {children ??
        (problem && text === '' && !isOpen ? null : (
          <>
            <div className={classes['tools']}>
              {steps.length > 0 ? (
                <SegmentedControl
                  aria-label={t('nodeJobs.output')}
                  value={which}
                  onChange={setWhich}
                  data={[
                    { value: 'all', label: t('nodeJobs.outputAll') },
                    { value: 'step', label: t('nodeJobs.outputStep') },
                  ]}
                />
              ) : (
                <h2 className={classes['outputTitle']}>{t('nodeJobs.output')}</h2>
              )}
              {text !== '' && <CopyIcon text={text} name={t('nodeJobs.output')} />}
            </div>
            {/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard */}
            <div
              ref={box}
              className={classes['screen']}
              role="log"
              aria-label={t('nodeJobs.output')}
              tabIndex={0}
              onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
                follows.current = scrollHeight - scrollTop - clientHeight < 24;
              }}
            >
              {intro !== '' && <pre className={classes['lines']}>{intro}</pre>}
              {text === '' && !isOpen && <span className={classes['of']}>{t('nodeJobs.noOutput')}</span>}
              {shown.map(({ name, output }) => (
                <pre key={name} className={classes['lines']}>
                  <span className={classes['of']}>{`— ${t(`nodeJobs.steps.${name}`)}\n`}</span>
                  {output}
                </pre>
              ))}
              {isOpen && <span className={classes['cursor']} aria-hidden />}
            </div>
            {/* oxlint-enable jsx-a11y/no-noninteractive-tabindex */}
          </>
        ))}
    </div>
  );
}

interface ProblemProps {
  /** The failed action. */
  title: string;
  /** The cause, as reported by the machine or the control plane. */
  detail?: string | null | undefined;
  /** Selects the advice. */
  fault?: string | null | undefined;
  actions: ReactNode;
}

/** The error, its cause, advice and actions. Takes focus, so that phones scroll to it. */
export function Problem({ title, detail, fault, actions }: ProblemProps) {
  useT();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  const advice = fault != null && tMaybe(`nodeJobs.advice.${fault}`);
  return (
    <div ref={box} role="alert" tabIndex={-1} className={classes['problem']}>
      <IconAlertSquareRounded size={18} stroke={1.6} aria-hidden />
      <div className={classes['problemText']}>
        <h2 className={classes['problemTitle']}>{title}</h2>
        {detail != null && detail !== '' && <p className={classes['message']}>{detail}</p>}
        {advice && <p>{advice}</p>}
        <div className={classes['problemActions']}>{actions}</div>
      </div>
    </div>
  );
}

/** The error that stopped a job. */
export function JobProblem({ job, actions }: { job: NodeJob; actions: ReactNode }) {
  const t = useT();
  if (job.state === 'cancelled') return <Problem title={t('nodeJobs.stopped')} actions={actions} />;
  if (job.state !== 'failed') return null;
  const failed = job.steps.find(({ fault }) => fault !== null);
  if (!failed || failed.fault === null) return <Problem title={t('nodeJobs.state.failed')} actions={actions} />;
  const title = t('nodeJobs.stepFailed', {
    step: t(`nodeJobs.steps.${failed.name}`),
    cause: t(`nodeJobs.faults.${failed.fault}`),
  });
  return <Problem key={failed.name} title={title} detail={failed.message} fault={failed.fault} actions={actions} />;
}
