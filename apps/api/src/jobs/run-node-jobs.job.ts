// Installs and removes nodes. Runs in every process with a lease per job.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { claimJob, runJob } from '../install/run-job.ts';
import { listen } from '../node-link/listen.ts';

/** A job mostly waits for its machine. */
const AT_ONCE = 50;
const LOOK_AGAIN_MS = 1000;

export function startNodeJobs(
  installation: Installation,
  log: Pick<FastifyBaseLogger, 'warn'>,
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking: Promise<void> | null = null;

  async function look() {
    while (!stopping.signal.aborted && running.size < AT_ONCE) {
      const job = await claimJob(installation.pool, new Date());
      if (!job) return;
      const work = runJob(installation, job, () => new Date(), stopping.signal)
        // Its lease expires, and the job is resumed.
        .catch((error: unknown) => log.warn({ err: error, job: job.id }, 'a node was not worked on'))
        .finally(() => {
          running.delete(work);
          wake();
        });
      running.add(work);
    }
  }
  const wake = () => {
    if (stopping.signal.aborted) return;
    looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, 'work on nodes could not be looked for'))
      .finally(() => {
        looking = null;
      });
  };
  const listener = listen(installation.env.DATABASE_URL, { node_jobs: wake });
  const timer = setInterval(wake, LOOK_AGAIN_MS).unref();
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await listener.stop();
      await looking;
      await Promise.all(running);
    },
  };
}
