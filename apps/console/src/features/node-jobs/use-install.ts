import { useState } from 'react';
import { useKeepDraft } from '../../lib/drafts.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import type { StepName } from './install-steps.tsx';
import { useFailure } from './use-failure.ts';
import { useHostKey } from './use-host-key.ts';
import { initialValues, useInstallForm } from './use-install-form.ts';
import type { NodeJob } from './use-node-job.ts';
import { useRetryInstall } from './use-retry-install.ts';
import { useStartInstall } from './use-start-install.ts';

export interface InstallOptions {
  node: EdgeNode | null;
  /** The installation to resume. */
  job: NodeJob | null;
  zoneID: string | null;
}
export type InstallState = ReturnType<typeof useInstall>;

/** An installation: its form, the current step, and the job once it runs. */
export function useInstall({ node, job: initialJob, zoneID }: InstallOptions) {
  const [initial] = useState(() => initialValues(node, zoneID));
  const draftKey = `install ${node?.id ?? 'new'}`;
  const form = useInstallForm(initial, draftKey);
  const [step, setStep] = useState<StepName>(initialJob ? 'run' : 'address');
  const [keepSSH, setKeepSSH] = useState(false);
  const { ip, port, fingerprint } = form.values;
  const hostKey = useHostKey(String(ip), Number(port));
  const start = useStartInstall(node?.id ?? null);
  const { retry: retryJob, ...running } = useRetryInstall(initialJob);
  // Once the node is created, its row has the input.
  const isSaved = start.id !== (node?.id ?? null) || initialJob !== null || start.join !== null;
  useKeepDraft(draftKey, () => (form.isDirty && !isSaved ? form.draft() : undefined));

  const goTo = (next: StepName) => {
    hostKey.cancel();
    setStep(next);
  };
  const { failure, isBusy, attempt } = useFailure({ form, goTo });
  const hasCredential = node?.ssh?.hasPassword === true || node?.ssh?.hasPrivateKey === true;
  const pinnedKey = typeof fingerprint === 'string' ? fingerprint : null;
  const isOtherKey = pinnedKey !== null && hostKey.key !== null && pinnedKey !== hostKey.key;

  const readHostKey = async () => {
    if (!form.check('address', { needsCredential: !hasCredential })) return;
    setStep('hostKey');
    await attempt('hostKey', hostKey.read);
  };
  const begin = async () => {
    if (!form.check('place')) return;
    const { input } = form;
    if (!form.check('address') || !input) return goTo('address');
    await attempt('start', async () => {
      if (form.method === 'ssh') return start.startJob(input, keepSSH);
      await start.createJoinCommand(input);
      setStep('run');
    });
  };
  /** Retries the failed step with the current input. */
  const retry = async (acceptedKey: string | null = null) => {
    const isChanged = form.isDirty || acceptedKey !== null;
    const { input } = form;
    if (isChanged && (!form.check('address') || !input)) return goTo('address');
    const ssh = input && { ...input.ssh, ...(acceptedKey !== null && { fingerprint: acceptedKey }) };
    await attempt('retry', async () => {
      await retryJob(isChanged && input && ssh ? { ...input, ssh } : null);
      setStep('run');
    });
  };
  const acceptKey = () => {
    form.set('fingerprint', hostKey.key);
    if (running.isStopped) void retry(hostKey.key);
    else setStep('place');
  };
  const leaveAddress = () => {
    if (running.isStopped) void retry();
    else if (form.method === 'ssh') void readHostKey();
    else if (form.check('address')) setStep('place');
  };
  const submitStep = () => {
    if (step === 'address') leaveAddress();
    else if (step === 'hostKey') acceptKey();
    else void begin();
  };
  return {
    ...running,
    form,
    step,
    goTo,
    hostKey,
    pinnedKey,
    isOtherKey,
    keepSSH,
    setKeepSSH,
    failure,
    join: start.join,
    id: start.id,
    hasCredential,
    isBusy,
    readHostKey,
    begin,
    retry,
    submitStep,
  };
}
