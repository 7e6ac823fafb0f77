import { useEffect } from 'react';
import { NodesTable } from '../../features/nodes/nodes-table.tsx';
import { ZonePage } from '../../features/zones/zone-page.tsx';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { lastZone } from '../../stores/session.ts';

const nodesTab = (zoneId: string) => <NodesTable zoneId={zoneId} />;

/** A zone with its nodes. */
export function ZoneView() {
  const { zoneId } = useRouteParams('zoneId');
  useEffect(() => lastZone.keep(zoneId), [zoneId]);
  return <ZonePage nodesTab={nodesTab} />;
}
