import { NodesTable } from '../../features/nodes/nodes-table.tsx';
import { ZonePage } from '../../features/zones/zone-page.tsx';

/** A zone with the nodes that are in it. */
export const ZoneView = () => <ZonePage nodesTab={(zoneId) => <NodesTable zoneId={zoneId} />} />;
