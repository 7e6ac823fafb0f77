import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { Page } from '../../components/page/page.tsx';
import { DraftNotice } from '../../components/resource-form/draft-notice.tsx';
import { FormContext } from '../../components/resource-form/form-state.ts';
import { RunPage } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT, type T } from '../../lib/i18n.ts';
import { useNames } from '../../lib/use-meta.ts';
import { useNow } from '../../lib/use-now.ts';
import { JoinLine } from '../nodes/join-panel.tsx';
import type { EdgeNode } from '../nodes/node-states.ts';
import { AddressFields, HostKey, PlaceFields } from './install-fields.tsx';
import { problemOf } from './install-problem.tsx';
import { InstallSteps } from './install-steps.tsx';
import { Output } from './job-output.tsx';
import { JobProgress, JobSteps, StopButton } from './job-state.tsx';
import { toneOfJob } from './tones.ts';
import { useInstall, type InstallOptions, type InstallState } from './use-install.ts';
import type { InstallForm } from './use-install-form.ts';

/** Steps on the left: address, host key, zone, run. Output or error beside them. */
export function Install(options: InstallOptions) {
  const t = useT();
  const install = useInstall(options);
  const { form, job, join, id, isOpen, isBusy, hostKey } = install;
  const now = useNow(isOpen);
  const { name } = form.values;
  const title = typeof name === 'string' && name !== '' ? t('nodeJobs.title.install', { name }) : t('nodes.create');
  return (
    <Page
      title="nodes.create"
      {...(id !== null && { name: title })}
      mark={job && <StatusMark tone={toneOfJob[job.state]} label={t(`nodeJobs.state.${job.state}`)} />}
      facts={job && <JobProgress job={job} now={now} />}
      actions={isOpen && <StopButton isCancelling={install.isCancelling} onStop={() => void install.cancel()} />}
    >
      <LeaveGuard when={form.isDirty && !isBusy && job === null && join === null} />
      {form.isRestored && form.isDirty && job === null && join === null && <DraftNotice onDiscard={form.discard} />}
      <RunPage side={<Side install={install} node={options.node} now={now} />}>
        <Output
          {...(job === null && { intro: introOf(t, hostKey) })}
          steps={job?.steps ?? []}
          isOpen={isOpen || hostKey.isReading}
          problem={problemOf(install, t)}
        >
          {join && <JoinLine nodeID={join.id} token={join} />}
        </Output>
      </RunPage>
    </Page>
  );
}

interface SideProps extends Pick<InstallOptions, 'node'> {
  install: InstallState;
  now: number;
}

/** The steps with their fields and results, and those of the job. */
function Side({ install, node, now }: SideProps) {
  const { form, step, job, id, hostKey, isStopped, isBusy } = install;
  const t = useT();
  const zoneName = useZoneName(form, node);
  const canGoBack = (job === null || isStopped) && install.join === null && !isBusy;
  return (
    <InstallSteps
      current={step}
      skipped={form.method === 'command' ? ['hostKey'] : []}
      {...(canGoBack && { onBack: install.goTo })}
      reached={job ? 'run' : step}
      results={resultsOf(install, zoneName, t)}
      onPress={form.trackPress}
      onSubmit={install.submitStep}
      busy={isBusy}
      submit={submitOf(install)}
      canSubmit={step !== 'hostKey' || hostKey.key !== null}
      fields={{
        address: (
          <FormContext value={form.stateOf('nodeJobs', isBusy)}>
            <AddressFields form={form} isFixed={job !== null} isStored={install.hasCredential} />
          </FormContext>
        ),
        hostKey: (
          <HostKey
            isReading={hostKey.isReading}
            shown={hostKey.key}
            pinned={acceptedKeyOf(install)}
            isOther={install.isOtherKey}
          />
        ),
        place: (
          <FormContext value={form.stateOf('nodes', isBusy)}>
            <PlaceFields
              fixedZone={id !== null ? (zoneName ?? '') : null}
              keepSSH={form.method === 'ssh' ? install.keepSSH : null}
              onKeepSSH={install.setKeepSSH}
            />
          </FormContext>
        ),
      }}
    >
      {job && <JobSteps job={job} node={node} now={now} />}
    </InstallSteps>
  );
}

function useZoneName({ values: { zoneID } }: InstallForm, node: EdgeNode | null) {
  const [zone] = useNames(zones.meta, typeof zoneID === 'string' ? [zoneID] : []);
  return zone?.label ?? node?.zoneName;
}

/** The confirmed host key, unless the machine presents another one now. */
const acceptedKeyOf = ({ isOtherKey, pinnedKey }: InstallState) => (isOtherKey ? null : pinnedKey);

/** Result of each completed step. */
function resultsOf(install: InstallState, zoneName: string | undefined, t: T) {
  const { form, job, hostKey } = install;
  const { ip, user, role } = form.values;
  return {
    address: form.method === 'command' ? String(ip) : `${String(user)}@${hostKey.address}`,
    hostKey: job?.fingerprint ?? hostKey.key ?? acceptedKeyOf(install),
    place: [zoneName, t(`nodes.choices.role.${role === 'backup' ? 'backup' : 'main'}`)].filter(Boolean).join(' · '),
  };
}

function submitOf({ step, isStopped, isOtherKey, form }: InstallState) {
  if (step === 'hostKey' && isOtherKey) return 'nodeJobs.acceptKey';
  if (isStopped && step !== 'place') return 'nodeJobs.retry';
  if (step === 'address') return 'common.next';
  if (step === 'hostKey') return 'nodeJobs.keyMatches';
  return form.method === 'command' ? 'nodeJobs.makeCommand' : 'nodeJobs.install';
}

/** The first lines of the output, before the job writes its own. */
function introOf(t: T, { address, isReading, key }: InstallState['hostKey']) {
  if (!isReading && key === null) return '';
  const reading = `${t('nodeJobs.reading', { place: address })}\n`;
  return key === null ? reading : `${reading}${key}\n`;
}
