import { NodesTable } from '../../features/nodes/nodes-table.tsx';
import { ZonePage } from '../../features/zones/zone-page.tsx';

const nodesTab = (zoneId: string) => <NodesTable zoneId={zoneId} />;

/** A zone with the nodes that are in it. */
export const ZoneView = () => <ZonePage nodesTab={nodesTab} />;
