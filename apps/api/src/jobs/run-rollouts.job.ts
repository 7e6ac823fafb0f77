// Advances rollouts. Runs in every process with a lease per rollout.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';
import { linkOf } from '../node-link/start.ts';
import { claimRollout, runRollout, type Nodes } from '../rollouts/run-rollout.ts';

/** A rollout mostly waits for its nodes. */
const MAX_CONCURRENT = 50;

export function startRollouts(
  installation: Installation,
  log: Pick<FastifyBaseLogger, 'warn'>,
): { stop: () => Promise<void> } {
  let news = Promise.withResolvers<void>();
  const nodes: Nodes = {
    isUp: () => linkOf(installation)?.isUp() === true,
    order: async (nodeId, order) => (await linkOf(installation)?.order(nodeId, order)) ?? 'away',
  };
  const engine = { installation, nodes, now: () => new Date() };
  return startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'rollouts',
    maxConcurrent: MAX_CONCURRENT,
    claim: () => claimRollout(installation.pool),
    run: (claimed, stopping) => runRollout(engine, claimed, stopping, () => news.promise),
    failures: { run: 'a rollout could not be advanced', claim: 'rollouts could not be claimed' },
    log,
    onWake() {
      news.resolve();
      news = Promise.withResolvers();
    },
  });
}
