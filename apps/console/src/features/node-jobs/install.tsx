import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { NodeJobsStarted } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { ApiError } from '@edgeloom/contract/client.ts';
import { Button } from '@mantine/core';
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { Page } from '../../components/page/page.tsx';
import { FormContext } from '../../components/resource-form/form-state.ts';
import { RunPage, StepRun } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { explain, withCode } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { lasted } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { useNames } from '../../lib/use-meta.ts';
import { useNow } from '../../lib/use-now.ts';
import { JoinLine } from '../nodes/join-panel.tsx';
import type { EdgeNode } from '../nodes/node-states.ts';
import { AddressFields, HostKey, PlaceFields, type Way } from './install-fields.tsx';
import { InstallSteps, type StepName } from './install-steps.tsx';
import { Installed } from './installed.tsx';
import { JobProblem, Output, Problem } from './job-output.tsx';
import classes from './node-jobs.module.css';
import { stepOf } from './step-of.tsx';
import { toneOfJob } from './tones.ts';
import { startOf, useInstallForm } from './use-install-form.ts';
import { useLiveJob, type NodeJob } from './use-node-job.ts';

interface InstallProps {
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

/** Steps on the left: address, host key, zone, run. Output or error beside them. */
export function Install({ node, job: begun, zoneID }: InstallProps) {
  const t = useT();
  const language = useLanguage();
  const navigate = useNavigate();
  const [start] = useState(() => startOf(node, zoneID));
  const form = useInstallForm(start);
  const [way, setWay] = useState<Way>('ssh');
  const [step, setStep] = useState<StepName>(begun ? 'run' : 'address');
  /** A node created here whose installation has not started. */
  const [madeID, setMadeID] = useState<string | null>(null);
  const [shownKey, setShownKey] = useState<string | null>(null);
  const [keepSSH, setKeepSSH] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [join, setJoin] = useState<JoinCommand | null>(null);
  const [round, setRound] = useState(0);
  const [busy, setBusy] = useState(false);
  const job = useLiveJob(begun, round);
  const chosenZone = form.values['zoneID'];
  const [named] = useNames(zones.meta, typeof chosenZone === 'string' ? [chosenZone] : []);

  const hostKey = useAction(nodeJobs.hostKey, { quiet: true });
  const create = useAction(nodes.create, { refreshes: ['zones'], quiet: true });
  const update = useAction(nodes.update, { quiet: true });
  const rejoin = useAction(nodes.rejoin, { quiet: true });
  const initialize = useAction(nodeJobs.initialize, { refreshes: ['nodes'], quiet: true });
  const retry = useAction(nodeJobs.retry, { quiet: true });
  const cancel = useAction(nodeJobs.cancel);

  const id = node?.id ?? madeID;
  const isOpen = job !== null && job.endedAt === null;
  const isStopped = job?.state === 'failed' || job?.state === 'cancelled';
  const now = useNow(isOpen);
  const { ip, port, user, name } = form.values;
  const place = `${String(ip)}:${String(port)}`;

  const failed = (at: Failure['step'], title: string, error: unknown) => {
    const placed = at === 'hostKey' ? null : form.refuse(error);
    if (placed) setStep(placed);
    const isUnreachable = error instanceof ApiError && error.envelope.code === NODE_UNREACHABLE;
    const reason = error instanceof ApiError ? error.envelope.extra?.['reason'] : undefined;
    setFailure({
      step: at,
      title,
      detail: isUnreachable && typeof reason === 'string' ? reason : withCode(explain(error)),
      ...(isUnreachable && { fault: 'unreachable' }),
    });
  };

  const look = async () => {
    if (!form.check('address', { needsCredential: !hasCredential(node) }) || typeof ip !== 'string') return;
    setFailure(null);
    setShownKey(null);
    setStep('hostKey');
    try {
      const found = await hostKey.run({ body: { ip, port: Number(port) } });
      setShownKey(found?.fingerprint ?? null);
    } catch (error) {
      failed('hostKey', t('nodeJobs.noHostKey'), error);
    }
  };
  /** Request bodies, with the confirmed host key. */
  const bodies = (fingerprint: string | null) => {
    if (!form.input) return null;
    const {
      port: sshPort,
      user: sshUser,
      password,
      privateKey,
      fingerprint: pinned,
      zoneID: zone,
      ...own
    } = form.input;
    const ssh = {
      port: sshPort,
      user: sshUser,
      fingerprint: fingerprint ?? pinned ?? null,
      ...(password !== undefined && { password }),
      ...(privateKey !== undefined && { privateKey }),
    };
    return { own, zone, ssh };
  };
  const begin = async () => {
    if (!form.check('place')) return;
    const sent = bodies(shownKey);
    if (!sent) return setStep('address');
    const { own, zone, ssh } = sent;
    setFailure(null);
    setBusy(true);
    try {
      if (way === 'line') return await makeCommand(own, zone);
      let nodeID = id;
      if (nodeID === null) {
        nodeID = (await create.run({ body: { ...own, zoneID: zone, ssh } }))?.id ?? null;
        setMadeID(nodeID);
      } else await update.run({ body: { ...own, id: nodeID, ssh } });
      if (nodeID === null) return;
      const started = await initialize.run({ body: { ids: [nodeID], keepSSH } });
      if (NodeJobsStarted.safeParse(started).success)
        await navigate(to(`nodeManage/nodesList/${nodeID}/install`), { replace: true });
    } catch (error) {
      failed('place', t('nodeJobs.notStarted'), error);
    } finally {
      setBusy(false);
    }
  };
  const makeCommand = async (own: object & { name: string; ip: string }, zone: string) => {
    if (id !== null) await update.run({ body: { ...own, id } });
    const token =
      id === null ? await create.run({ body: { ...own, zoneID: zone } }) : await rejoin.run({ params: { nodeID: id } });
    if (token)
      setJoin({
        id: id ?? ('id' in token ? String(token.id) : ''),
        command: token.command,
        expiresAt: token.expiresAt,
      });
    setStep('run');
  };
  /** Retries the failed step with the current values. */
  const tryAgain = async (fingerprint: string | null = null) => {
    if (!job) return;
    const isChanged = form.isDirty || fingerprint !== null;
    if (isChanged && !form.check('address')) return setStep('address');
    const sent = bodies(fingerprint);
    setFailure(null);
    setBusy(true);
    try {
      if (isChanged && sent)
        await update.run({ body: { id: job.nodeID, name: sent.own.name, ip: sent.own.ip, ssh: sent.ssh } });
      await retry.run({ params: { nodeID: job.nodeID, jobID: job.id } });
      setRound(round + 1);
      setStep('run');
    } catch (error) {
      failed('retry', t('nodeJobs.notStarted'), error);
    } finally {
      setBusy(false);
    }
  };

  const next = () => {
    if (step === 'address' && isStopped) return void tryAgain();
    if (step === 'address' && way === 'line') return form.check('address') && setStep('place');
    if (step === 'address') return void look();
    if (step === 'hostKey' && isStopped) return void tryAgain(shownKey);
    if (step === 'hostKey') return setStep('place');
    return void begin();
  };
  const goOn: Record<Failure['step'], () => void> = {
    hostKey: () => void look(),
    place: () => void begin(),
    retry: () => void tryAgain(),
  };
  const againButton = (onClick: () => void) => (
    <Button leftSection={<IconRefresh size={15} stroke={1.6} />} loading={busy || hostKey.running} onClick={onClick}>
      {t('nodeJobs.retry')}
    </Button>
  );
  const editButton = (
    <Button variant="default" onClick={() => setStep('address')}>
      {t('nodeJobs.changeAddress')}
    </Button>
  );
  const fault = job?.steps.find((one) => one.fault !== null)?.fault;
  const pinned = form.values['fingerprint'];
  const isOtherKey = typeof pinned === 'string' && shownKey !== null && pinned !== shownKey;
  const problem = failure ? (
    <Problem
      key={failure.title}
      {...failure}
      actions={
        <>
          {againButton(goOn[failure.step])}
          {step !== 'address' && editButton}
        </>
      }
    />
  ) : step === 'hostKey' && isOtherKey ? (
    <Problem
      key={shownKey}
      title={t('nodeJobs.faults.hostKey')}
      detail={t('nodeJobs.otherKey', { pinned, shown: shownKey })}
      fault="hostKey"
      actions={againButton(() => void look())}
    />
  ) : job ? (
    <JobProblem
      job={job}
      actions={
        <>
          {againButton(() => void tryAgain())}
          {fault === 'hostKey' && (
            <Button variant="default" onClick={() => void look()}>
              {t('nodeJobs.compareAgain')}
            </Button>
          )}
          {step !== 'address' && editButton}
        </>
      }
    />
  ) : null;

  const isKeyKnown = typeof pinned === 'string' && !isOtherKey;
  const zoneName = named?.label ?? node?.zoneName;
  const title = typeof name === 'string' && name !== '' ? t('nodeJobs.title.install', { name }) : t('nodes.create');
  const done = job?.steps.filter(({ state }) => state === 'done').length ?? 0;
  const isSettled = job !== null && !isStopped;
  return (
    <Page
      title="nodes.create"
      {...(id !== null && { name: title })}
      mark={job && <StatusMark tone={toneOfJob[job.state]} label={t(`nodeJobs.state.${job.state}`)} />}
      facts={
        job && (
          <span>
            {t(`nodeJobs.state.${job.state}`)} · {t('nodeJobs.progress', { done, count: job.steps.length })} ·{' '}
            {lasted((job.endedAt ? Date.parse(job.endedAt) : now) - Date.parse(job.createdAt), language)}
          </span>
        )
      }
      actions={
        isOpen && (
          <Button
            variant="default"
            leftSection={<IconPlayerStop size={15} stroke={1.6} />}
            loading={cancel.running}
            onClick={() => void cancel.run({ params: { nodeID: job.nodeID, jobID: job.id } })}
          >
            {t('nodeJobs.cancel')}
          </Button>
        )
      }
    >
      <LeaveGuard when={form.isDirty && !busy && job === null && join === null} />
      <RunPage
        side={
          <InstallSteps
            current={step}
            skipped={way === 'line' ? ['hostKey'] : []}
            {...(!isSettled && join === null && !busy && { onBack: setStep })}
            reached={job ? 'run' : step}
            results={{
              address: way === 'line' ? String(ip) : `${String(user)}@${place}`,
              hostKey: job?.fingerprint ?? shownKey ?? (isKeyKnown ? pinned : null),
              place: [zoneName, t(`nodes.choices.role.${form.input?.role ?? 'main'}`)].filter(Boolean).join(' · '),
            }}
            onSubmit={next}
            busy={busy}
            submit={submitOf({ step, isStopped, isOtherKey, way })}
            canSubmit={step !== 'hostKey' || shownKey !== null}
            fields={{
              address: (
                <FormContext value={form.stateOf('nodeJobs', busy)}>
                  <AddressFields way={way} onWay={setWay} fixed={job !== null} isStored={hasCredential(node)} />
                </FormContext>
              ),
              hostKey: (
                <HostKey
                  looking={hostKey.running}
                  shown={shownKey}
                  pinned={isKeyKnown ? pinned : null}
                  isOther={isOtherKey}
                />
              ),
              place: (
                <FormContext value={form.stateOf('nodes', busy)}>
                  <PlaceFields
                    fixedZone={id !== null ? (zoneName ?? '') : null}
                    keepSSH={way === 'ssh' ? keepSSH : null}
                    onKeepSSH={setKeepSSH}
                  />
                </FormContext>
              ),
            }}
          >
            {job && (
              <>
                {job.state === 'completed' && node && <Installed node={node} />}
                <StepRun steps={job.steps.map((one) => stepOf(one, now, t, language))} />
                <p className={classes['note']}>{t('nodeJobs.note.install')}</p>
              </>
            )}
          </InstallSteps>
        }
      >
        <Output
          {...(job === null && { intro: introOf(t, { place, looking: hostKey.running, key: shownKey }) })}
          steps={job?.steps ?? []}
          isOpen={isOpen || hostKey.running}
          problem={problem}
        >
          {join && <JoinLine nodeID={join.id} token={join} />}
        </Output>
      </RunPage>
    </Page>
  );
}

const hasCredential = (node: EdgeNode | null) => node?.ssh?.hasPassword === true || node?.ssh?.hasPrivateKey === true;

interface Going {
  step: StepName;
  isStopped: boolean;
  isOtherKey: boolean;
  way: Way;
}
function submitOf({ step, isStopped, isOtherKey, way }: Going) {
  if (step === 'hostKey' && isOtherKey) return 'nodeJobs.acceptKey';
  if (isStopped && step !== 'place') return 'nodeJobs.retry';
  if (step === 'address') return 'common.next';
  if (step === 'hostKey') return 'nodeJobs.keyMatches';
  return way === 'line' ? 'nodeJobs.makeCommand' : 'nodeJobs.install';
}

/** The first lines of the output, before the job writes its own. */
function introOf(
  t: ReturnType<typeof useT>,
  { place, looking, key }: { place: string; looking: boolean; key: string | null },
) {
  if (!looking && key === null) return '';
  const asked = `${t('nodeJobs.reading', { place })}\n`;
  return key === null ? asked : `${asked}${key}\n`;
}
