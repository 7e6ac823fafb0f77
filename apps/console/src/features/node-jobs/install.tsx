import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { Page } from '../../components/page/page.tsx';
import { FormContext } from '../../components/resource-form/form-state.ts';
import { RunPage, StepRun } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { lasted } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useNames } from '../../lib/use-meta.ts';
import { useNow } from '../../lib/use-now.ts';
import { JoinLine } from '../nodes/join-panel.tsx';
import { AddressFields, HostKey, PlaceFields } from './install-fields.tsx';
import { problemOf } from './install-problem.tsx';
import { InstallSteps } from './install-steps.tsx';
import { Installed } from './installed.tsx';
import { Output } from './job-output.tsx';
import classes from './node-jobs.module.css';
import { stepOf } from './step-of.tsx';
import { toneOfJob } from './tones.ts';
import { useInstall, type InstallOptions, type InstallState } from './use-install.ts';
import type { NodeJob } from './use-node-job.ts';

/** Steps on the left: address, host key, zone, run. Output or error beside them. */
export function Install(options: InstallOptions) {
  const t = useT();
  const install = useInstall(options);
  const { form, job, join, id, isOpen, isBusy, isReadingKey, shownKey, address } = install;
  const now = useNow(isOpen);
  const { name } = form.values;
  const title = typeof name === 'string' && name !== '' ? t('nodeJobs.title.install', { name }) : t('nodes.create');
  return (
    <Page
      title="nodes.create"
      {...(id !== null && { name: title })}
      mark={job && <StatusMark tone={toneOfJob[job.state]} label={t(`nodeJobs.state.${job.state}`)} />}
      facts={job && <Progress job={job} now={now} />}
      actions={
        isOpen && (
          <Button
            variant="default"
            leftSection={<IconPlayerStop size={15} stroke={1.6} />}
            loading={install.isCancelling}
            onClick={() => void install.cancel()}
          >
            {t('nodeJobs.cancel')}
          </Button>
        )
      }
    >
      <LeaveGuard when={form.isDirty && !isBusy && job === null && join === null} />
      <RunPage side={<Side install={install} node={options.node} now={now} />}>
        <Output
          {...(job === null && { intro: introOf(t, { place: address, looking: isReadingKey, key: shownKey }) })}
          steps={job?.steps ?? []}
          isOpen={isOpen || isReadingKey}
          problem={problemOf(install, t)}
        >
          {join && <JoinLine nodeID={join.id} token={join} />}
        </Output>
      </RunPage>
    </Page>
  );
}

function Progress({ job, now }: { job: NodeJob; now: number }) {
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

interface SideProps extends Pick<InstallOptions, 'node'> {
  install: InstallState;
  now: number;
}

/** The steps with their fields and results, and those of the job. */
function Side({ install, node, now }: SideProps) {
  const t = useT();
  const language = useLanguage();
  const { form, way, step, job, id, shownKey, pinnedKey, isOtherKey, isStopped, isStored, isBusy } = install;
  const zoneID = form.values['zoneID'];
  const [zone] = useNames(zones.meta, typeof zoneID === 'string' ? [zoneID] : []);
  const zoneName = zone?.label ?? node?.zoneName;
  const acceptedKey = isOtherKey ? null : pinnedKey;
  const canGoBack = (job === null || isStopped) && install.join === null && !isBusy;
  return (
    <InstallSteps
      current={step}
      skipped={way === 'line' ? ['hostKey'] : []}
      {...(canGoBack && { onBack: install.setStep })}
      reached={job ? 'run' : step}
      results={{
        address: way === 'line' ? String(form.values['ip']) : `${String(form.values['user'])}@${install.address}`,
        hostKey: job?.fingerprint ?? shownKey ?? acceptedKey,
        place: [zoneName, t(`nodes.choices.role.${form.input?.role ?? 'main'}`)].filter(Boolean).join(' · '),
      }}
      onSubmit={install.submitStep}
      busy={isBusy}
      submit={submitOf({ step, isStopped, isOtherKey, way })}
      canSubmit={step !== 'hostKey' || shownKey !== null}
      fields={{
        address: (
          <FormContext value={form.stateOf('nodeJobs', isBusy)}>
            <AddressFields way={way} onWay={install.setWay} fixed={job !== null} isStored={isStored} />
          </FormContext>
        ),
        hostKey: <HostKey looking={install.isReadingKey} shown={shownKey} pinned={acceptedKey} isOther={isOtherKey} />,
        place: (
          <FormContext value={form.stateOf('nodes', isBusy)}>
            <PlaceFields
              fixedZone={id !== null ? (zoneName ?? '') : null}
              keepSSH={way === 'ssh' ? install.keepSSH : null}
              onKeepSSH={install.setKeepSSH}
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
  );
}

function submitOf({
  step,
  isStopped,
  isOtherKey,
  way,
}: Pick<InstallState, 'step' | 'isStopped' | 'isOtherKey' | 'way'>) {
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
