import { nodeStatistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { Spark } from '../../components/chart/spark.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

const POLL_MS = 300_000;

/** Bandwidth of the last 24 hours. All rows share one request. */
export function BandwidthSpark({ nodeID }: { nodeID: string }) {
  const can = useCan();
  const { data } = useEndpoint(
    nodeStatistics.bandwidth,
    {},
    { enabled: can(nodeStatistics.bandwidth), pollMs: POLL_MS },
  );
  const values = data?.data.find(({ id }) => id === nodeID)?.values;
  return values === undefined ? null : <Spark values={values} inText />;
}
