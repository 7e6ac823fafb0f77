import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { useState } from 'react';
import { useAction } from '../../lib/use-endpoint.ts';
import type { InstallForm } from './use-install-form.ts';
import { useLiveJob, type NodeJob } from './use-node-job.ts';

/** The job with its live state. It can be cancelled, and retried from the failed step. */
export function useRetryInstall(initialJob: NodeJob | null) {
  const update = useAction(nodes.update, { quiet: true });
  const retryJob = useAction(nodeJobs.retry, { quiet: true });
  const cancelJob = useAction(nodeJobs.cancel);
  const [round, setRound] = useState(0);
  const job = useLiveJob(initialJob, round);
  const params = { nodeID: job?.nodeID ?? '', jobID: job?.id ?? '' };

  /** Stores the changed input first, if there is any. */
  const retry = async (changed: InstallForm['input']) => {
    if (changed) {
      const { node, ssh } = changed;
      await update.run({ body: { id: params.nodeID, name: node.name, ip: node.ip, ssh } });
    }
    await retryJob.run({ params });
    setRound(round + 1);
  };
  return {
    job,
    isOpen: job !== null && job.endedAt === null,
    isStopped: job?.state === 'failed' || job?.state === 'cancelled',
    isCancelling: cancelJob.running,
    retry,
    cancel: () => job && cancelJob.run({ params }),
  };
}
