// A release on trial looks at itself, and becomes what serves once it is no worse than the one before, follows the control
// plane and has everything of its zone. Where waiting will not help it gives up at once; who sees to it that nobody waits
// for ever is the launcher.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { worse } from './health.ts';
import type { Health } from './health.ts';
import type { Home } from './home.ts';

interface Parts {
  home: Home;
  health: () => Health;
  /** It is connected and nothing is missing. */
  isInStep: () => boolean;
  natsServers: () => readonly string[];
  confirm: () => Promise<void>;
  /** Ends this agent in favour of the one before. */
  leave: () => void;
  signal: AbortSignal;
  log: Log;
}

const LOOK_MS = 250;
const REACHED_WITHIN_MS = 3000;
/** Between two looks whether the control plane is there at all. */
const REACH_EVERY_MS = 500;

export async function standTrial({ home, health, isInStep, natsServers, confirm, leave, signal, log }: Parts) {
  const before = (await home.trialNote())?.before ?? { nginx: 'running', error: null, rejected: [] };
  let said = '';
  let reachAt = 0;
  while (!signal.aborted) {
    const amiss = worse(before, health());
    if (amiss?.isFinal) {
      log.error('this release gives up', { fault: amiss.fault });
      await home.giveUp(amiss.fault);
      return leave();
    }
    if (amiss === null && isInStep()) {
      await confirm();
      return log.info('this release serves from now on');
    }
    const waitsFor = amiss?.fault ?? 'it does not follow the control plane';
    if (waitsFor !== said) await home.waitsFor(waitsFor);
    said = waitsFor;
    // A node that serves is not changed back for a control plane that is away: the one before would not reach it either. One
    // that answers and is not followed is another matter: this release could never be told to go.
    if (amiss === null && performance.now() >= reachAt) {
      if (!(await isReached(natsServers()))) await home.lives();
      reachAt = performance.now() + REACH_EVERY_MS;
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function isReached(servers: readonly string[]): Promise<boolean> {
  const reached = await Promise.all(servers.map((server) => opens(new URL(server)).catch(() => false)));
  return reached.includes(true);
}

/** By the plainest means there are, which no release gets wrong. */
function opens({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || 4222,
      timeout: REACHED_WITHIN_MS,
    });
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
