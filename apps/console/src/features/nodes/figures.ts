import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { EdgeNode } from './node-states.ts';

const POLL_MS = 2000;
/** Time span of the live charts. */
export const SPAN_MS = 300_000;
const MOST_KEPT = SPAN_MS / POLL_MS;

export type Figures = Received<typeof nodes.system>;

/** Polls the machine while the page is open, and keeps the values since. */
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

/** Offline nodes are not polled. A disabled node counts as connected while it sends metrics. */
export const isConnected = ({ status, load }: Pick<EdgeNode, 'status' | 'load'>) =>
  ['enabled', 'backupPaused', 'rejected'].includes(status) || (status === 'disabled' && load !== null);
