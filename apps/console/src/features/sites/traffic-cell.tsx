import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { Spark } from '../../components/chart/spark.tsx';
import { Bytes } from '../../components/values/values.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

const POLL_MS = 300_000;
/** Bandwidth of each hour by site. */
const Bandwidths = createContext<ReadonlyMap<string, readonly (number | null)[]>>(new Map());

/** Reads the bandwidths of all sites on the page with one call, for the `TrafficCell`s in it. */
export function SiteBandwidths({ ids, children }: { ids: readonly string[]; children: ReactNode }) {
  const can = useCan();
  const { data } = useEndpoint(
    statistics.siteBandwidth,
    { body: { siteIDs: [...ids] } },
    { enabled: can(statistics.siteBandwidth) && ids.length > 0, pollMs: POLL_MS },
  );
  const bandwidths = useMemo(() => new Map(data?.data.map(({ id, values }) => [id, values])), [data]);
  return <Bandwidths value={bandwidths}>{children}</Bandwidths>;
}

/** Bytes of the last 24 hours, beside the bandwidth of each hour. */
export function TrafficCell({ id, traffic }: { id: string; traffic: number | null }) {
  const values = useContext(Bandwidths).get(id);
  return (
    <>
      {values !== undefined && <Spark values={values} inText />}
      <Bytes of={traffic} />
    </>
  );
}
