import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { causeOf } from './cause-of.ts';
import type { StepName } from './install-steps.tsx';
import type { InstallForm } from './use-install-form.ts';

/** The part of an installation that failed and can be retried. */
export type FailedPart = 'hostKey' | 'start' | 'retry';

interface Failure {
  part: FailedPart;
  title: string;
  detail: string;
  /** Selects the advice. */
  fault?: string;
}

interface FailureOptions {
  form: InstallForm;
  goTo: (step: StepName) => void;
}

/** Runs the calls of an installation, and keeps the error of the last one that failed. */
export function useFailure({ form, goTo }: FailureOptions) {
  const t = useT();
  const [failure, setFailure] = useState<Failure | null>(null);
  /** Reading the host key does not disable the form. */
  const [isBusy, setBusy] = useState(false);

  const attempt = async (part: FailedPart, send: () => Promise<void>) => {
    setFailure(null);
    if (part !== 'hostKey') setBusy(true);
    try {
      await send();
    } catch (error) {
      const stepWithError = form.showErrors(error);
      if (stepWithError) goTo(stepWithError);
      setFailure({
        part,
        title: t(part === 'hostKey' ? 'nodeJobs.noHostKey' : 'nodeJobs.notStarted'),
        ...causeOf(error),
      });
    } finally {
      if (part !== 'hostKey') setBusy(false);
    }
  };
  return { failure, isBusy, attempt };
}
