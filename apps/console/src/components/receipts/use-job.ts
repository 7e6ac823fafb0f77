import { jobs } from '@edgeloom/contract/jobs/jobs.calls.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** A job with its receipts, polled each second until it ends. */
export const useJob = (siteId: string, jobID: string | null) =>
  useEndpoint(
    jobs.get,
    { params: { siteId, jobID: jobID ?? '' } },
    { enabled: jobID !== null, poll: (job) => (job?.state === 'processing' ? 1000 : null) },
  );
