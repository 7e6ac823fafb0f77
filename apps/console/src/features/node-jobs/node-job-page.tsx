import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { RunPage, StepRun } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { to } from '../../lib/family.ts';
import { bits, lasted } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useNow } from '../../lib/use-now.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { Installed } from './installed.tsx';
import { JobProblem, Output } from './job-output.tsx';
import classes from './node-jobs.module.css';
import { stepOf } from './step-of.tsx';
import { toneOfJob } from './tones.ts';
import { useLiveJob, type NodeJob } from './use-node-job.ts';

/** A job of a machine with its steps and output. */
export function NodeJobPage() {
  const { nodeID, jobID } = useRouteParams('nodeID', 'jobID');
  const found = useEndpoint(nodeJobs.get, { params: { nodeID, jobID } });
  return (
    <Await result={found} page="nodes.title">
      {(job) => <Loaded key={job.id} read={job} />}
    </Await>
  );
}

function Loaded({ read }: { read: NodeJob }) {
  const t = useT();
  const language = useLanguage();
  // A retry opens a new stream.
  const [round, setRound] = useState(0);
  const job = useLiveJob(read, round) ?? read;
  const can = useCan();
  const params = { nodeID: job.nodeID, jobID: job.id };
  const retry = useAction(nodeJobs.retry);
  const cancel = useAction(nodeJobs.cancel);
  const node = useEndpoint(nodes.get, { params: { nodeID: job.nodeID } });
  const isOpen = job.endedAt === null;
  const done = job.steps.filter(({ state }) => state === 'done').length;
  const now = useNow(isOpen);
  const tryAgain = async () => {
    if (await retry.run({ params })) setRound(round + 1);
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
        <Output
          steps={job.steps}
          isOpen={isOpen}
          problem={
            <JobProblem
              job={job}
              actions={
                <>
                  {can(nodeJobs.retry) && (
                    <Button
                      leftSection={<IconRefresh size={15} stroke={1.6} />}
                      loading={retry.running}
                      onClick={() => void tryAgain()}
                    >
                      {t('nodeJobs.retry')}
                    </Button>
                  )}
                  {job.kind === 'install' && can(nodeJobs.initialize) && (
                    <Button variant="default" component={Link} to={to(`nodeManage/nodesList/${job.nodeID}/install`)}>
                      {t('nodeJobs.changeAddress')}
                    </Button>
                  )}
                </>
              }
            />
          }
        />
      </RunPage>
    </Page>
  );
}
