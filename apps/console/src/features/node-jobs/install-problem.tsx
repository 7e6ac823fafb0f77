import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { T } from '../../lib/i18n.ts';
import { JobProblem, Problem } from './job-output.tsx';
import type { InstallState } from './use-install.ts';

/** The error that stopped the installation, with the actions that go on. Null without one. */
export function problemOf(install: InstallState, t: T): ReactNode {
  const { job, failure, step, setStep, shownKey, pinnedKey, isOtherKey, readHostKey, begin, retry } = install;
  const retryButton = (onClick: () => void) => (
    <Button
      leftSection={<IconRefresh size={15} stroke={1.6} />}
      loading={install.isBusy || install.isReadingKey}
      onClick={onClick}
    >
      {t('nodeJobs.retry')}
    </Button>
  );
  const editButton = step !== 'address' && (
    <Button variant="default" onClick={() => setStep('address')}>
      {t('nodeJobs.changeAddress')}
    </Button>
  );
  if (failure) {
    const calls = { hostKey: readHostKey, place: begin, retry };
    return (
      <Problem
        key={failure.title}
        {...failure}
        actions={
          <>
            {retryButton(() => void calls[failure.step]())}
            {editButton}
          </>
        }
      />
    );
  }
  if (step === 'hostKey' && isOtherKey)
    return (
      <Problem
        key={shownKey}
        title={t('nodeJobs.faults.hostKey')}
        detail={t('nodeJobs.otherKey', { pinned: pinnedKey ?? '', shown: shownKey ?? '' })}
        fault="hostKey"
        actions={retryButton(() => void readHostKey())}
      />
    );
  if (!job) return null;
  const hasOtherKey = job.steps.find(({ fault }) => fault !== null)?.fault === 'hostKey';
  return (
    <JobProblem
      job={job}
      actions={
        <>
          {retryButton(() => void retry())}
          {hasOtherKey && (
            <Button variant="default" onClick={() => void readHostKey()}>
              {t('nodeJobs.compareAgain')}
            </Button>
          )}
          {editButton}
        </>
      }
    />
  );
}
