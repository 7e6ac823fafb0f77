// The state of a job: its progress, its steps, and the button that stops it.
import { Button } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { StepRun } from '../../components/step-run/step-run.tsx';
import { lasted } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { Installed } from './installed.tsx';
import classes from './node-jobs.module.css';
import { stepOf } from './step-of.tsx';
import type { NodeJob } from './use-node-job.ts';

/** `In progress · 3 of 11 steps · 42 s`. */
export function JobProgress({ job, now }: { job: NodeJob; now: number }) {
  const t = useT();
  const language = useLanguage();
  const done = job.steps.filter(({ state }) => state === 'done').length;
  return (
    <span>
      {t(`nodeJobs.state.${job.state}`)} · {t('nodeJobs.progress', { done, count: job.steps.length })} ·{' '}
      {lasted((job.endedAt ? Date.parse(job.endedAt) : now) - Date.parse(job.createdAt), language)}
    </span>
  );
}

export function JobSteps({ job, node, now }: { job: NodeJob; node: EdgeNode | null; now: number }) {
  const t = useT();
  const language = useLanguage();
  return (
    <>
      {job.kind === 'install' && job.state === 'completed' && node && <Installed node={node} />}
      <StepRun steps={job.steps.map((step) => stepOf(step, now, t, language))} />
      <p className={classes['note']}>{t(`nodeJobs.note.${job.kind}`)}</p>
    </>
  );
}

export function StopButton({ isCancelling, onStop }: { isCancelling: boolean; onStop: () => void }) {
  const t = useT();
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerStop size={15} stroke={1.6} />}
      loading={isCancelling}
      onClick={onStop}
    >
      {t('nodeJobs.cancel')}
    </Button>
  );
}
