import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useEffect, useState } from 'react';
import { call } from '../../lib/api.ts';
import { follow } from '../../lib/follow.ts';

export type NodeJob = Received<typeof nodeJobs.get>;
export type NodeStep = NodeJob['steps'][number];
type Event = Received<typeof nodeJobs.events> extends AsyncIterable<infer E> ? E : never;

/** What a stream has told so far: how the job stands, and each step with all of its output. */
type Told = Omit<Event, 'steps'> & { steps: ReadonlyMap<string, NodeStep> };

/** A job as it goes on. */
export function useLiveJob(job: NodeJob): NodeJob {
  const told = useStream(job.nodeID, job.id);
  return told ? { ...job, ...told, steps: job.steps.map((step) => told.steps.get(step.name) ?? step) } : job;
}

function useStream(nodeID: string, jobID: string): Told | null {
  const [told, setTold] = useState<Told | null>(null);
  useEffect(
    () =>
      follow<Event>(
        (signal) => call(nodeJobs.events, { params: { nodeID, jobID } }, { signal }),
        () => {
          let steps: ReadonlyMap<string, NodeStep> = new Map();
          return ({ steps: changed, ...head }) => {
            steps = withSteps(steps, changed);
            setTold({ ...head, steps });
          };
        },
      ),
    [nodeID, jobID],
  );
  return told;
}

const withSteps = (before: ReadonlyMap<string, NodeStep>, changed: Event['steps']): ReadonlyMap<string, NodeStep> =>
  new Map([
    ...before,
    ...changed.map(({ more, ...step }): [string, NodeStep] => [
      step.name,
      { ...step, output: (before.get(step.name)?.output ?? '') + more },
    ]),
  ]);
