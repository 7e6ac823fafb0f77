import { ApiError } from '@edgeloom/contract/client.ts';
import { useState } from 'react';
import { explain, withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
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
const NODE_UNREACHABLE = 202_001;

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
      const stepWithError = part === 'hostKey' ? null : form.showErrors(error);
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

function causeOf(error: unknown): Pick<Failure, 'detail' | 'fault'> {
  const detail = withCode(explain(error));
  if (!(error instanceof ApiError) || error.envelope.code !== NODE_UNREACHABLE) return { detail };
  const reason = error.envelope.extra?.['reason'];
  return { detail: typeof reason === 'string' ? reason : detail, fault: 'unreachable' };
}
