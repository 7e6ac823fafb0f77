import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT, type T } from '../../lib/i18n.ts';
import { JobProblem, Problem } from './job-output.tsx';
import type { FailedPart } from './use-failure.ts';
import type { InstallState } from './use-install.ts';

/** The error that stopped the installation, with the actions that go on. Null without one. */
export function problemOf(install: InstallState, t: T): ReactNode {
  const { failure, step, isOtherKey, hostKey, pinnedKey, job } = install;
  if (failure) return <Problem key={failure.title} {...failure} actions={<FailureActions install={install} />} />;
  if (step === 'hostKey' && isOtherKey)
    return (
      <Problem
        key={hostKey.key}
        title={t('nodeJobs.faults.hostKey')}
        detail={t('nodeJobs.otherKey', { pinned: pinnedKey ?? '', shown: hostKey.key ?? '' })}
        fault="hostKey"
        actions={<RetryButton install={install} part="hostKey" />}
      />
    );
  return job && <JobProblem job={job} actions={<JobActions install={install} job={job} />} />;
}

function FailureActions({ install }: { install: InstallState }) {
  return (
    <>
      {install.failure && <RetryButton install={install} part={install.failure.part} />}
      <EditButton install={install} />
    </>
  );
}

function JobActions({ install, job }: { install: InstallState; job: NonNullable<InstallState['job']> }) {
  const t = useT();
  const hasOtherKey = job.steps.find(({ fault }) => fault !== null)?.fault === 'hostKey';
  return (
    <>
      <RetryButton install={install} part="retry" />
      {hasOtherKey && (
        <Button variant="default" onClick={() => void install.readHostKey()}>
          {t('nodeJobs.compareAgain')}
        </Button>
      )}
      <EditButton install={install} />
    </>
  );
}

function RetryButton({ install, part }: { install: InstallState; part: FailedPart }) {
  const t = useT();
  const calls = { hostKey: install.readHostKey, start: install.begin, retry: install.retry };
  return (
    <Button
      leftSection={<IconRefresh size={15} stroke={1.6} />}
      loading={install.isBusy || install.hostKey.isReading}
      onClick={() => void calls[part]()}
    >
      {t('nodeJobs.retry')}
    </Button>
  );
}

function EditButton({ install: { step, goTo } }: { install: InstallState }) {
  const t = useT();
  if (step === 'address') return null;
  return (
    <Button variant="default" onClick={() => goTo('address')}>
      {t('nodeJobs.changeAddress')}
    </Button>
  );
}
