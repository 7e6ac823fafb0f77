import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button, SegmentedControl } from '@mantine/core';
import { IconCheck, IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Copy, CopyIcon } from '../../components/values/copy.tsx';
import { to } from '../../lib/family.ts';
import { bits, lasted } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
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
    <Await result={found}>
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
      <div className={classes['split']}>
        <div className={classes['side']}>
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
          <ol className={classes['steps']}>
            {job.steps.map((step) => (
              <StepLine key={step.name} step={step} now={now} />
            ))}
          </ol>
          {job.kind === 'install' && job.state === 'completed' && <Installed nodeID={job.nodeID} />}
          <p className={classes['note']}>{t(`nodeJobs.note.${job.kind}`)}</p>
        </div>
        <Output steps={job.steps} isOpen={isOpen} />
      </div>
    </Page>
  );
}

/** It is there and serves, but no visitor is led to it yet. */
function Installed({ nodeID }: { nodeID: string }) {
  const t = useT();
  return (
    <div className={classes['installed']}>
      <p>{t('nodeJobs.standsBy')}</p>
      <Button component={Link} to={to(`nodeManage/nodesList/${nodeID}`)} variant="default">
        {t('nodes.join.open')}
      </Button>
    </div>
  );
}

function StepLine({ step, now }: { step: NodeStep; now: number }) {
  const t = useT();
  const language = useLanguage();
  const { name, state, fault, message, startedAt, endedAt } = step;
  const isTimed = startedAt !== null && (state === 'running' || endedAt !== null);
  return (
    <li className={classes['step']} data-state={state} aria-current={state === 'running' ? 'step' : undefined}>
      <span className={classes['mark']}>
        {state === 'done' ? (
          <>
            <IconCheck size={15} stroke={2} aria-hidden />
            <span className="hidden-text">{t('nodeJobs.stepState.done')}</span>
          </>
        ) : (
          <StatusMark tone={toneOfStep[state]} label={t(`nodeJobs.stepState.${state}`)} />
        )}
      </span>
      <div>
        <div className={classes['name']}>{t(`nodeJobs.steps.${name}`)}</div>
        <div className={classes['why']}>{t(`nodeJobs.stepsWhy.${name}`)}</div>
        {fault !== null && (
          <div className={classes['fault']}>
            {t(`nodeJobs.faults.${fault}`)}
            {message !== null && <span className={classes['message']}>{message}</span>}
          </div>
        )}
      </div>
      <span className={classes['took']}>
        {isTimed && lasted((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt), language)}
      </span>
    </li>
  );
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

/** Moves on while something is under way. */
function useNow(isMoving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isMoving]);
  return now;
}
