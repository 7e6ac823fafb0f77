import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useEffect, useState } from 'react';
import { call } from '../../lib/api.ts';
import { follow } from '../../lib/follow.ts';
import type { RolloutDetail } from './format.ts';

type Event = Received<typeof rollouts.events> extends AsyncIterable<infer E> ? E : never;
export type RolloutNode = RolloutDetail['nodes'][number];
export type RolloutLine = Event['lines'][number];

/** Older lines are dropped. */
export const MAX_LINES = 500;

interface LiveState {
  at: number;
  rollout: RolloutDetail;
  lines: readonly RolloutLine[];
}

/** The newest state from the stream or from polling. Log lines come only from the stream, and are null before it. */
export function useLiveRollout(
  read: RolloutDetail,
  readAt: number,
): { rollout: RolloutDetail; lines: readonly RolloutLine[] | null } {
  const [live, setLive] = useState<LiveState | null>(null);
  const { id } = read;
  useEffect(
    () =>
      follow<Event>(
        (signal) => call(rollouts.events, { params: { id } }, { signal }),
        () => {
          let nodes: ReadonlyMap<string, RolloutNode> = new Map();
          let lines: readonly RolloutLine[] = [];
          return ({ nodes: changed, lines: more, ...head }) => {
            nodes = new Map([...nodes, ...changed.map((node): [string, RolloutNode] => [node.nodeID, node])]);
            lines = [...lines, ...more].slice(-MAX_LINES);
            setLive({ at: Date.now(), rollout: { ...head, nodes: [...nodes.values()] }, lines });
          };
        },
      ),
    [id],
  );
  if (live?.rollout.id !== id) return { rollout: read, lines: null };
  return { rollout: live.at >= readAt ? live.rollout : read, lines: live.lines };
}
