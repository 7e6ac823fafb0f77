import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { useContext } from 'react';
import { Spark } from '../../components/chart/spark.tsx';
import { PageIds } from '../../components/resource-table/page-ids.ts';
import { Bytes } from '../../components/values/values.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

const POLL_MS = 300_000;

/** Bytes of the last 24 hours, beside the bandwidth of each hour. All rows of the page share one request. */
export function TrafficCell({ id, traffic }: { id: string; traffic: number | null }) {
  const can = useCan();
  const siteIDs = useContext(PageIds);
  const { data } = useEndpoint(
    statistics.siteBandwidth,
    { body: { siteIDs: [...siteIDs] } },
    { enabled: can(statistics.siteBandwidth) && siteIDs.length > 0, pollMs: POLL_MS },
  );
  const values = data?.data.find((site) => site.id === id)?.values;
  return (
    <>
      {values !== undefined && <Spark values={values} inText />}
      <Bytes of={traffic} />
    </>
  );
}
