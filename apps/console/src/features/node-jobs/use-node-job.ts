import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useEffect, useState } from 'react';
import { call } from '../../lib/api.ts';

export type NodeJob = Received<typeof nodeJobs.get>;
export type NodeStep = NodeJob['steps'][number];
type Event = Received<typeof nodeJobs.events> extends AsyncIterable<infer E> ? E : never;

/** How long after a stream that broke it is opened again. */
const AGAIN_MS = 2000;

/** What a stream has told so far: how the job stands, and each step with all of its output. */
type Told = Omit<Event, 'steps'> & { steps: ReadonlyMap<string, NodeStep> };

/** A job as it goes on. */
export function useLiveJob(job: NodeJob): NodeJob {
  const told = useStream(job.nodeID, job.id);
  return told ? { ...job, ...told, steps: job.steps.map((step) => told.steps.get(step.name) ?? step) } : job;
}

function useStream(nodeID: string, jobID: string): Told | null {
  const [told, setTold] = useState<Told | null>(null);
  useEffect(() => follow({ nodeID, jobID }, setTold), [nodeID, jobID]);
  return told;
}

/** Until the job has ended, or the function that it answers is called. */
function follow(params: { nodeID: string; jobID: string }, tell: (told: Told) => void): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = async () => {
    // Each stream begins with all there is.
    let steps: ReadonlyMap<string, NodeStep> = new Map();
    let hasEnded = false;
    for await (const { steps: changed, ...head } of await call(nodeJobs.events, { params }, { signal })) {
      steps = withSteps(steps, changed);
      tell({ ...head, steps });
      hasEnded = head.endedAt !== null;
    }
    if (!hasEnded) timer = setTimeout(run, AGAIN_MS);
  };
  const run = () => {
    listen().catch(() => {
      if (!signal.aborted) timer = setTimeout(run, AGAIN_MS);
    });
  };
  run();
  return () => {
    stopping.abort();
    clearTimeout(timer);
  };
}

const withSteps = (before: ReadonlyMap<string, NodeStep>, changed: Event['steps']): ReadonlyMap<string, NodeStep> =>
  new Map([
    ...before,
    ...changed.map(({ more, ...step }): [string, NodeStep] => [
      step.name,
      { ...step, output: (before.get(step.name)?.output ?? '') + more },
    ]),
  ]);
