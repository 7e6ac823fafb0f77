import { ApiError } from '@edgeloom/contract/client.ts';
import { NodeJobsStarted } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import { useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { explain, withCode } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { bodiesOf, useInstallCalls } from './install-calls.ts';
import type { Way } from './install-fields.tsx';
import type { StepName } from './install-steps.tsx';
import { startOf, useInstallForm } from './use-install-form.ts';
import { useLiveJob, type NodeJob } from './use-node-job.ts';

export interface InstallOptions {
  node: EdgeNode | null;
  /** The installation to resume. */
  job: NodeJob | null;
  zoneID: string | null;
}
interface Failure {
  /** The call to retry. */
  step: 'hostKey' | 'place' | 'retry';
  title: string;
  detail: string;
  fault?: string;
}
interface JoinCommand {
  id: string;
  command: string;
  expiresAt: string;
}
const NODE_UNREACHABLE = 202_001;

export type InstallState = ReturnType<typeof useInstall>;

/** An installation: its form, the current step, the calls, and the job once it runs. */
export function useInstall({ node, job: begun, zoneID }: InstallOptions) {
  const t = useT();
  const navigate = useNavigate();
  const [start] = useState(() => startOf(node, zoneID));
  const form = useInstallForm(start);
  const [way, setWay] = useState<Way>('ssh');
  const [step, setStep] = useState<StepName>(begun ? 'run' : 'address');
  /** A node created here whose installation has not started. */
  const [createdID, setCreatedID] = useState<string | null>(null);
  const [shownKey, setShownKey] = useState<string | null>(null);
  const [keepSSH, setKeepSSH] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [join, setJoin] = useState<JoinCommand | null>(null);
  const [round, setRound] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const job = useLiveJob(begun, round);
  const calls = useInstallCalls();

  const id = node?.id ?? createdID;
  const isStopped = job?.state === 'failed' || job?.state === 'cancelled';
  const isStored = node?.ssh?.hasPassword === true || node?.ssh?.hasPrivateKey === true;
  const { ip, port, fingerprint } = form.values;
  const pinnedKey = typeof fingerprint === 'string' ? fingerprint : null;
  const isOtherKey = pinnedKey !== null && shownKey !== null && pinnedKey !== shownKey;

  const showFailure = (at: Failure['step'], title: string, error: unknown) => {
    const stepWithError = at === 'hostKey' ? null : form.refuse(error);
    if (stepWithError) setStep(stepWithError);
    const isUnreachable = error instanceof ApiError && error.envelope.code === NODE_UNREACHABLE;
    const reason = error instanceof ApiError ? error.envelope.extra?.['reason'] : undefined;
    setFailure({
      step: at,
      title,
      detail: isUnreachable && typeof reason === 'string' ? reason : withCode(explain(error)),
      ...(isUnreachable && { fault: 'unreachable' }),
    });
  };
  /** Makes calls, and shows the error of the first that fails. */
  const run = async (at: 'place' | 'retry', send: () => Promise<void>) => {
    setFailure(null);
    setBusy(true);
    try {
      await send();
    } catch (error) {
      showFailure(at, t('nodeJobs.notStarted'), error);
    } finally {
      setBusy(false);
    }
  };

  const readHostKey = async () => {
    if (!form.check('address', { needsCredential: !isStored }) || typeof ip !== 'string') return;
    setFailure(null);
    setShownKey(null);
    setStep('hostKey');
    try {
      const found = await calls.hostKey.run({ body: { ip, port: Number(port) } });
      setShownKey(found?.fingerprint ?? null);
    } catch (error) {
      showFailure('hostKey', t('nodeJobs.noHostKey'), error);
    }
  };

  const begin = async () => {
    if (!form.check('place')) return;
    if (!form.input) return setStep('address');
    const bodies = bodiesOf(form.input, shownKey);
    await run('place', () => (way === 'line' ? makeJoinCommand(bodies) : startJob(bodies)));
  };
  const startJob = async ({ node: fields, zoneID: zone, ssh }: ReturnType<typeof bodiesOf>) => {
    let nodeID = id;
    if (nodeID === null) {
      nodeID = (await calls.create.run({ body: { ...fields, zoneID: zone, ssh } }))?.id ?? null;
      setCreatedID(nodeID);
    } else await calls.update.run({ body: { ...fields, id: nodeID, ssh } });
    if (nodeID === null) return;
    const started = await calls.initialize.run({ body: { ids: [nodeID], keepSSH } });
    if (NodeJobsStarted.safeParse(started).success)
      await navigate(to(`nodeManage/nodesList/${nodeID}/install`), { replace: true });
  };
  const makeJoinCommand = async ({ node: fields, zoneID: zone }: ReturnType<typeof bodiesOf>) => {
    if (id !== null) await calls.update.run({ body: { ...fields, id } });
    const token =
      id === null
        ? await calls.create.run({ body: { ...fields, zoneID: zone } })
        : await calls.rejoin.run({ params: { nodeID: id } });
    if (token)
      setJoin({
        id: id ?? ('id' in token ? String(token.id) : ''),
        command: token.command,
        expiresAt: token.expiresAt,
      });
    setStep('run');
  };

  /** Retries the failed step with the current values. */
  const retry = async (confirmedKey: string | null = null) => {
    if (!job) return;
    const isChanged = form.isDirty || confirmedKey !== null;
    if (isChanged && !form.check('address')) return setStep('address');
    await run('retry', async () => {
      if (isChanged && form.input) {
        const { node: fields, ssh } = bodiesOf(form.input, confirmedKey);
        await calls.update.run({ body: { id: job.nodeID, name: fields.name, ip: fields.ip, ssh } });
      }
      await calls.retry.run({ params: { nodeID: job.nodeID, jobID: job.id } });
      setRound(round + 1);
      setStep('run');
    });
  };
  const cancel = () => job && calls.cancel.run({ params: { nodeID: job.nodeID, jobID: job.id } });

  const submitStep = () => {
    if (step === 'address' && isStopped) return void retry();
    if (step === 'address' && way === 'line') return form.check('address') && setStep('place');
    if (step === 'address') return void readHostKey();
    if (step === 'hostKey' && isStopped) return void retry(shownKey);
    if (step === 'hostKey') return setStep('place');
    return void begin();
  };

  return {
    form,
    way,
    setWay,
    step,
    setStep,
    shownKey,
    pinnedKey,
    isOtherKey,
    keepSSH,
    setKeepSSH,
    failure,
    join,
    job,
    id,
    isOpen: job !== null && job.endedAt === null,
    isStopped,
    isStored,
    isBusy,
    isReadingKey: calls.hostKey.running,
    isCancelling: calls.cancel.running,
    address: `${String(ip)}:${String(port)}`,
    readHostKey,
    begin,
    retry,
    cancel,
    submitStep,
  };
}
