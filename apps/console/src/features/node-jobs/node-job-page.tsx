import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { RunPage } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { to } from '../../lib/family.ts';
import { bits } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useNow } from '../../lib/use-now.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { JobProblem, Output } from './job-output.tsx';
import { JobProgress, JobSteps, StopButton } from './job-state.tsx';
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
  const can = useCan();
  // A retry opens a new stream.
  const [round, setRound] = useState(0);
  const job = useLiveJob(read, round) ?? read;
  const params = { nodeID: job.nodeID, jobID: job.id };
  const retry = useAction(nodeJobs.retry);
  const cancel = useAction(nodeJobs.cancel);
  const isOpen = job.endedAt === null;
  const now = useNow(isOpen);
  const node = useEndpoint(nodes.get, { params: { nodeID: job.nodeID } }).data ?? null;
  const retryJob = async () => {
    if (await retry.run({ params })) setRound(round + 1);
  };
  const title = t(`nodeJobs.title.${job.kind}`, { name: job.nodeName });
  return (
    <Page
      title="nodes.title"
      name={title}
      mark={<StatusMark tone={toneOfJob[job.state]} label={t(`nodeJobs.state.${job.state}`)} />}
      facts={<JobProgress job={job} now={now} />}
      actions={
        isOpen &&
        can(nodeJobs.cancel) && <StopButton isCancelling={cancel.running} onStop={() => void cancel.run({ params })} />
      }
    >
      <RunPage
        side={
          <>
            <JobFacts job={job} node={node} />
            <JobSteps job={job} node={node} now={now} />
          </>
        }
      >
        <Output
          steps={job.steps}
          isOpen={isOpen}
          problem={
            <JobProblem
              job={job}
              actions={<RetryActions job={job} isRetrying={retry.running} onRetry={() => void retryJob()} />}
            />
          }
        />
      </RunPage>
    </Page>
  );
}

function JobFacts({ job, node }: { job: NodeJob; node: EdgeNode | null }) {
  const t = useT();
  return (
    <Facts>
      <Fact term={t('nodeJobs.address')}>{node ? `${node.ip}${node.ssh ? `:${node.ssh.port}` : ''}` : '—'}</Fact>
      <Fact term={t('nodes.fields.zoneName')}>{node?.zoneName ?? '—'}</Fact>
      {node && (
        <Fact term={t('nodes.fields.role')}>
          {[
            t(`nodes.choices.role.${node.role}`),
            t(`nodes.layers.${node.portType}`),
            ...(node.bandwidthMbps > 0 ? [bits(node.bandwidthMbps * 1e6)] : []),
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
  );
}

interface RetryActionsProps {
  job: NodeJob;
  isRetrying: boolean;
  onRetry: () => void;
}

function RetryActions({ job, isRetrying, onRetry }: RetryActionsProps) {
  const t = useT();
  const can = useCan();
  return (
    <>
      {can(nodeJobs.retry) && (
        <Button leftSection={<IconRefresh size={15} stroke={1.6} />} loading={isRetrying} onClick={onRetry}>
          {t('nodeJobs.retry')}
        </Button>
      )}
      {job.kind === 'install' && can(nodeJobs.initialize) && (
        <Button variant="default" component={Link} to={to(`nodeManage/nodesList/${job.nodeID}/install`)}>
          {t('nodeJobs.changeAddress')}
        </Button>
      )}
    </>
  );
}
