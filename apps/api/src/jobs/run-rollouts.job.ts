// Advances rollouts. Runs in every process with a lease per rollout.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { listen } from '../node-link/listen.ts';
import { linkOf } from '../node-link/start.ts';
import { claimRollout, runRollout, type Nodes } from '../rollouts/run-rollout.ts';

/** A rollout mostly waits for its nodes. */
const AT_ONCE = 50;
const LOOK_AGAIN_MS = 1000;

export function startRollouts(here: Installation, log: Pick<FastifyBaseLogger, 'warn'>): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let looking: Promise<void> | null = null;
  let news = Promise.withResolvers<void>();

  const nodes: Nodes = {
    isUp: () => linkOf(here)?.isUp() === true,
    order: async (nodeId, order) => (await linkOf(here)?.order(nodeId, order)) ?? 'away',
  };
  const engine = { here, nodes, now: () => new Date() };

  async function look() {
    while (!stopping.signal.aborted && running.size < AT_ONCE) {
      const claimed = await claimRollout(here.pool);
      if (!claimed) return;
      const work = runRollout(engine, claimed, stopping.signal, () => news.promise)
        // Its lease expires, and the rollout is resumed.
        .catch((error: unknown) => log.warn({ err: error, rollout: claimed.id }, 'a rollout was not carried on'))
        .finally(() => running.delete(work));
      running.add(work);
    }
  }
  const wake = () => {
    news.resolve();
    news = Promise.withResolvers();
    if (stopping.signal.aborted) return;
    looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, 'rollouts could not be looked for'))
      .finally(() => {
        looking = null;
      });
  };
  const listener = listen(here.env.DATABASE_URL, { rollouts: wake });
  const timer = setInterval(wake, LOOK_AGAIN_MS).unref();
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      news.resolve();
      await listener.stop();
      await looking;
      await Promise.all(running);
    },
  };
}
