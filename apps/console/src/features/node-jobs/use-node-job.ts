import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useEffect, useState } from 'react';
import { call } from '../../lib/api.ts';
import { follow } from '../../lib/follow.ts';

export type NodeJob = Received<typeof nodeJobs.get>;
export type NodeStep = NodeJob['steps'][number];
type Event = Received<typeof nodeJobs.events> extends AsyncIterable<infer E> ? E : never;

/** State of the job from the stream, with all output. */
type Reported = Omit<Event, 'steps'> & { steps: ReadonlyMap<string, NodeStep> };

/** The job with streamed updates. `round` increases with each retry. */
export function useLiveJob(job: NodeJob | null, round = 0): NodeJob | null {
  const reported = useStream(job?.nodeID, job?.id, round);
  if (!job || !reported) return job;
  return { ...job, ...reported, steps: job.steps.map((step) => reported.steps.get(step.name) ?? step) };
}

function useStream(nodeID: string | undefined, jobID: string | undefined, round: number): Reported | null {
  const key = `${nodeID} ${jobID} ${round}`;
  const [last, setLast] = useState<{ key: string; reported: Reported } | null>(null);
  useEffect(() => {
    if (nodeID === undefined || jobID === undefined) return undefined;
    return follow<Event>(
      (signal) => call(nodeJobs.events, { params: { nodeID, jobID } }, { signal }),
      () => {
        let steps: ReadonlyMap<string, NodeStep> = new Map();
        return ({ steps: changed, ...head }) => {
          steps = withSteps(steps, changed);
          setLast({ key, reported: { ...head, steps } });
        };
      },
    );
  }, [nodeID, jobID, key]);
  return last?.key === key ? last.reported : null;
}

const withSteps = (before: ReadonlyMap<string, NodeStep>, changed: Event['steps']): ReadonlyMap<string, NodeStep> =>
  new Map([
    ...before,
    ...changed.map(({ more, ...step }): [string, NodeStep] => [
      step.name,
      { ...step, output: (before.get(step.name)?.output ?? '') + more },
    ]),
  ]);
