import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button, SegmentedControl } from '@mantine/core';
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { RunPage, StepRun, type RunStep } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Copy, CopyIcon } from '../../components/values/copy.tsx';
import { to } from '../../lib/family.ts';
import { bits, lasted } from '../../lib/format.ts';
import { useLanguage, useT, type T } from '../../lib/i18n.ts';
import { useNow } from '../../lib/use-now.ts';
import type { Language } from '../../stores/preferences.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { useMeta } from '../../lib/use-meta.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { lineName } from '../groups/line-name.ts';
import { PutOnLine } from '../groups/put-on-line.tsx';
import type { EdgeNode } from '../nodes/node-states.ts';
import classes from './node-jobs.module.css';
import { toneOfJob, toneOfStep } from './tones.ts';
import { useLiveJob, type NodeJob, type NodeStep } from './use-node-job.ts';

/** A machine that becomes a node, or is taken down: its steps, and beside them what it says. */
export function NodeJobPage() {
  const { nodeID, jobID } = useRouteParams('nodeID', 'jobID');
  const found = useEndpoint(nodeJobs.get, { params: { nodeID, jobID } });
  // One that is tried again is followed anew.
  const [round, setRound] = useState(0);
  return (
    <Await result={found} page="nodes.title">
      {(job) => <Loaded key={`${job.id} ${round}`} read={job} again={() => setRound(round + 1)} />}
    </Await>
  );
}

function Loaded({ read, again }: { read: NodeJob; again: () => void }) {
  const t = useT();
  const language = useLanguage();
  const job = useLiveJob(read);
  const can = useCan();
  const params = { nodeID: job.nodeID, jobID: job.id };
  const retry = useAction(nodeJobs.retry);
  const cancel = useAction(nodeJobs.cancel);
  const node = useEndpoint(nodes.get, { params: { nodeID: job.nodeID } });
  const isOpen = job.endedAt === null;
  const done = job.steps.filter(({ state }) => state === 'done').length;
  const now = useNow(isOpen);
  const tryAgain = async () => {
    if (await retry.run({ params })) again();
  };
  const title = t(`nodeJobs.title.${job.kind}`, { name: job.nodeName });
  return (
    <Page
      title="nodes.title"
      name={title}
      mark={<StatusMark tone={toneOfJob[job.state]} label={t(`nodeJobs.state.${job.state}`)} />}
      facts={
        <span>
          {t(`nodeJobs.state.${job.state}`)} · {t('nodeJobs.progress', { done, count: job.steps.length })} ·{' '}
          {lasted((job.endedAt ? Date.parse(job.endedAt) : now) - Date.parse(job.createdAt), language)}
        </span>
      }
      actions={
        <>
          {isOpen && can(nodeJobs.cancel) && (
            <Button
              variant="default"
              leftSection={<IconPlayerStop size={15} stroke={1.6} />}
              loading={cancel.running}
              onClick={() => void cancel.run({ params })}
            >
              {t('nodeJobs.cancel')}
            </Button>
          )}
          {(job.state === 'failed' || job.state === 'cancelled') && can(nodeJobs.retry) && (
            <Button
              leftSection={<IconRefresh size={15} stroke={1.6} />}
              loading={retry.running}
              onClick={() => void tryAgain()}
            >
              {t('nodeJobs.retry')}
            </Button>
          )}
        </>
      }
    >
      <RunPage
        side={
          <>
            <Facts>
              <Fact term={t('nodeJobs.address')}>
                {node.data ? `${node.data.ip}${node.data.ssh ? `:${node.data.ssh.port}` : ''}` : '—'}
              </Fact>
              <Fact term={t('nodes.fields.zoneName')}>{node.data?.zoneName ?? '—'}</Fact>
              {node.data && (
                <Fact term={t('nodes.fields.role')}>
                  {[
                    t(`nodes.choices.role.${node.data.role}`),
                    t(`nodes.layers.${node.data.portType}`),
                    ...(node.data.bandwidthMbps > 0 ? [bits(node.data.bandwidthMbps * 1e6)] : []),
                  ].join(' · ')}
                </Fact>
              )}
              {job.system && (
                <Fact term={t('nodeJobs.system')}>
                  {job.system.id} {job.system.version} · {job.system.arch}
                </Fact>
              )}
              {job.fingerprint !== null && (
                <Fact term={t('nodeJobs.hostKey')} wide>
                  <Copy text={job.fingerprint} />
                </Fact>
              )}
            </Facts>
            {job.kind === 'install' && job.state === 'completed' && node.data && <Installed node={node.data} />}
            <StepRun steps={job.steps.map((step) => stepOf(step, now, t, language))} />
            <p className={classes['note']}>{t(`nodeJobs.note.${job.kind}`)}</p>
          </>
        }
      >
        <Output steps={job.steps} isOpen={isOpen} />
      </RunPage>
    </Page>
  );
}

/** It is there and serves; visitors are led to it once it stands on a line. A relay never does. */
function Installed({ node: { id, zoneID, kind } }: { node: Pick<EdgeNode, 'id' | 'zoneID' | 'kind'> }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const places = useEndpoint(groups.ofNode, { params: { nodeID: id } }).data?.data ?? [];
  const known = useMeta(can(groups.meta) ? groups.meta : undefined, { zoneId: zoneID });
  const board = to(`nodeManage/resolutionTitle?zone=${zoneID}`);
  const said = places.map(({ groupName, line, weight }) =>
    t('groups.place', { group: groupName, line: lineName(line), weight }),
  );
  return (
    <div className={classes['installed']}>
      {kind === 'edge' && (
        <p>
          {places.length === 0
            ? t('nodeJobs.standsBy')
            : t('nodeJobs.stands', { places: said.join(t('common.semicolon')) })}
        </p>
      )}
      <div>
        <Button component={Link} to={to(`nodeManage/nodesList/${id}`)} variant="default">
          {t('nodes.join.open')}
        </Button>
        {kind === 'edge' && places.length === 0 && known.length > 0 && can(groups.place) ? (
          <Button onClick={() => overlay(<PutOnLine zoneId={zoneID} nodeID={id} />, { title: 'nodeJobs.putOnLine' })}>
            {t('nodeJobs.putOnLine')}
          </Button>
        ) : (
          kind === 'edge' &&
          can(groups.board) && (
            <Button component={Link} to={board} variant={places.length === 0 ? 'filled' : 'default'}>
              {t('groups.title')}
            </Button>
          )
        )}
      </div>
    </div>
  );
}

/** As the list of steps shows it. */
function stepOf(
  { name, state, fault, message, startedAt, endedAt }: NodeStep,
  now: number,
  t: T,
  language: Language,
): RunStep {
  const isTimed = startedAt !== null && (state === 'running' || endedAt !== null);
  return {
    key: name,
    tone: toneOfStep[state],
    state: t(`nodeJobs.stepState.${state}`),
    isWaiting: state === 'waiting',
    isCurrent: state === 'running',
    title: t(`nodeJobs.steps.${name}`),
    why: t(`nodeJobs.stepsWhy.${name}`),
    took: isTimed && lasted((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt), language),
    more: fault !== null && (
      <div className={classes['fault']}>
        {t(`nodeJobs.faults.${fault}`)}
        {message !== null && <span className={classes['message']}>{message}</span>}
      </div>
    ),
  };
}

function Output({ steps, isOpen }: { steps: NodeStep[]; isOpen: boolean }) {
  const t = useT();
  const [which, setWhich] = useState('all');
  const box = useRef<HTMLDivElement>(null);
  const current =
    steps.find(({ state }) => state === 'running' || state === 'failed') ??
    steps.findLast(({ output }) => output !== '');
  const shown = (which === 'all' ? steps : steps.filter((step) => step === current)).filter(
    ({ output }) => output !== '',
  );
  const text = shown.map(({ output }) => output).join('');
  // Whoever scrolled back to read is left alone.
  const follows = useRef(true);
  const { length } = text;
  useEffect(() => {
    const element = box.current;
    if (element && length > 0 && follows.current) element.scrollTop = element.scrollHeight;
  }, [length]);
  return (
    <div className={classes['output']}>
      <div className={classes['tools']}>
        <SegmentedControl
          aria-label={t('nodeJobs.output')}
          value={which}
          onChange={setWhich}
          data={[
            { value: 'all', label: t('nodeJobs.outputAll') },
            { value: 'step', label: t('nodeJobs.outputStep') },
          ]}
        />
        <CopyIcon text={text} name={t('nodeJobs.output')} />
      </div>
      {/* oxlint-disable jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard */}
      <div
        ref={box}
        className={classes['screen']}
        role="log"
        aria-label={t('nodeJobs.output')}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
      >
        {shown.map(({ name, output }) => (
          <pre key={name} className={classes['lines']}>
            <span className={classes['of']}>{`— ${t(`nodeJobs.steps.${name}`)}\n`}</span>
            {output}
          </pre>
        ))}
        {isOpen && <span className={classes['cursor']} aria-hidden />}
      </div>
      {/* oxlint-enable jsx-a11y/no-noninteractive-tabindex */}
    </div>
  );
}
