import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** A job with its receipts, asked for each second until it has ended. */
export function useJob(siteId: string, jobID: string | null) {
  const request = { params: { siteId, jobID: jobID ?? '' } };
  const once = useEndpoint(jobs.get, request, { enabled: jobID !== null });
  const running = jobID !== null && once.data?.state === 'processing';
  // The same question: both hooks share one answer in the cache.
  useEndpoint(jobs.get, request, { enabled: running, ...(running && { pollMs: 1000 }) });
  return once;
}
