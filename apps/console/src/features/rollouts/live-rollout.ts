import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useEffect, useState } from 'react';
import { call } from '../../lib/api.ts';
import { follow } from '../../lib/follow.ts';
import type { RolloutDetail } from './in-words.ts';

type Event = Received<typeof rollouts.events> extends AsyncIterable<infer E> ? E : never;
export type RolloutNode = RolloutDetail['nodes'][number];
export type RolloutLine = Event['lines'][number];

/** The newest: more than anybody reads of what happened. */
export const LINES = 500;

interface Told {
  at: number;
  rollout: RolloutDetail;
  lines: readonly RolloutLine[];
}

/** A rollout as it goes on: what a stream tells, or what was asked since, where nothing comes through the stream.
 *  Lines come through it alone: null until the first. */
export function useLiveRollout(
  read: RolloutDetail,
  readAt: number,
): { rollout: RolloutDetail; lines: readonly RolloutLine[] | null } {
  const [told, setTold] = useState<Told | null>(null);
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
            lines = [...lines, ...more].slice(-LINES);
            setTold({ at: Date.now(), rollout: { ...head, nodes: [...nodes.values()] }, lines });
          };
        },
      ),
    [id],
  );
  if (told?.rollout.id !== id) return { rollout: read, lines: null };
  return { rollout: told.at >= readAt ? told.rollout : read, lines: told.lines };
}
