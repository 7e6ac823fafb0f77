// Keeps groups' DNS responses in line with their nodes. Woken by NOTIFY, and polls every other second for rotating
// records, recovering nodes and lost notifications.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { nodeFault } from '../core/outbound.ts';
import { listen } from '../core/listen.ts';
import { repeat } from '../node-link/repeat.ts';
import { openNodeProbe } from '../steering/node-probe.ts';
import { steerAll } from '../steering/run.ts';

const LOOK_EVERY_MS = 2000;
/** While a node recovers. */
const SOON_MS = 500;

export function startSteering(
  { pool, env }: Pick<Installation, 'pool' | 'env'>,
  log: Pick<FastifyBaseLogger, 'warn' | 'info' | 'error' | 'debug'>,
): { stop: () => Promise<void> } {
  let soon: NodeJS.Timeout | undefined;
  const nodeProbe = openNodeProbe(
    () => steering.wake(),
    (ip) => nodeFault(ip, env) === null,
  );
  const steering = repeat(
    async () => {
      const { isUnsettled } = await steerAll(pool, nodeProbe);
      clearTimeout(soon);
      if (isUnsettled) soon = setTimeout(() => steering.wake(), SOON_MS).unref();
    },
    LOOK_EVERY_MS,
    log,
    'groups could not be steered; it is tried again',
  );
  const listener = listen(env.DATABASE_URL, { steering: steering.wake });
  return {
    async stop() {
      await listener.stop();
      clearTimeout(soon);
      await steering.stop();
    },
  };
}
