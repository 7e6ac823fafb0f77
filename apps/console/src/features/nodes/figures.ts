import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { LOOKS } from './live-line.tsx';
import type { EdgeNode } from './node-states.ts';

export type Figures = Received<typeof nodes.system>;

/** Asked of the machine as long as somebody looks, with what was seen of it since the page was opened. */
export function useFigures(node: EdgeNode) {
  const result = useEndpoint(
    nodes.system,
    { params: { nodeID: node.id } },
    { pollMs: 2000, enabled: isConnected(node) },
  );
  const [seen, setSeen] = useState<readonly Figures[]>([]);
  const latest = result.data;
  if (latest && latest.at !== seen.at(-1)?.at) setSeen([...seen.slice(1 - LOOKS), latest]);
  return { result, seen };
}

/** What does not answer is not asked. One that is switched off is told by its figures alone. */
export const isConnected = ({ status, load }: Pick<EdgeNode, 'status' | 'load'>) =>
  ['enabled', 'backupPaused', 'rejected'].includes(status) || (status === 'disabled' && load !== null);
