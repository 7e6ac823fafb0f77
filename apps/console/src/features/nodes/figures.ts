import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { EdgeNode } from './node-states.ts';

const POLL_MS = 2000;
/** How far back the live charts reach. */
export const SPAN_MS = 300_000;
const MOST_KEPT = SPAN_MS / POLL_MS;

export type Figures = Received<typeof nodes.system>;

/** Asked of the machine as long as somebody looks, with what was seen of it since the page was opened. */
export function useFigures(node: EdgeNode) {
  const result = useEndpoint(
    nodes.system,
    { params: { nodeID: node.id } },
    { pollMs: POLL_MS, enabled: isConnected(node) },
  );
  const [seen, setSeen] = useState<readonly Figures[]>([]);
  const latest = result.data;
  if (latest && latest.at !== seen.at(-1)?.at) setSeen([...seen.slice(1 - MOST_KEPT), latest]);
  return { result, seen };
}

/** What does not answer is not asked. One that is switched off is told by its figures alone. */
export const isConnected = ({ status, load }: Pick<EdgeNode, 'status' | 'load'>) =>
  ['enabled', 'backupPaused', 'rejected'].includes(status) || (status === 'disabled' && load !== null);
