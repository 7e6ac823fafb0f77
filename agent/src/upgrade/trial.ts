// A release on trial checks its health. It is confirmed when it is no worse than its predecessor and in sync with the
// control plane. Where waiting is useless it gives up at once. The launcher limits the time of a trial.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { compareHealth } from './health.ts';
import type { Health } from './health.ts';
import type { Home } from './home.ts';

interface Deps {
  home: Home;
  health: () => Health;
  /** Connected, with every document of the zone. */
  isInSync: () => boolean;
  natsServers: () => readonly string[];
  confirm: () => Promise<void>;
  /** Ends this agent in favour of its predecessor. */
  handBack: () => void;
  signal: AbortSignal;
  log: Log;
}

const CHECK_INTERVAL_MS = 250;
const REACH_TIMEOUT_MS = 3000;
/** Between two checks whether the control plane is reachable. */
const REACH_INTERVAL_MS = 500;

export async function runTrial({ home, health, isInSync, natsServers, confirm, handBack, signal, log }: Deps) {
  const before = (await home.trialNote())?.before ?? { nginx: 'running', error: null, rejected: [] };
  let lastNote = '';
  let reachAt = 0;
  while (!signal.aborted) {
    const degradation = compareHealth(before, health());
    if (degradation?.isFinal) {
      log.error('this release failed its trial', { fault: degradation.fault });
      await home.giveUp(degradation.fault);
      return handBack();
    }
    if (degradation === null && isInSync()) {
      await confirm();
      return log.info('this release is confirmed');
    }
    const waitsFor = degradation?.fault ?? 'not in sync with the control plane';
    if (waitsFor !== lastNote) await home.noteWaitingFor(waitsFor);
    lastNote = waitsFor;
    // An unreachable control plane causes no rollback: the predecessor could not reach it either.
    // A reachable one that is not in sync does: this release could not receive the order to leave.
    if (degradation === null && performance.now() >= reachAt) {
      if (!(await isReachable(natsServers()))) await home.keepAlive();
      reachAt = performance.now() + REACH_INTERVAL_MS;
    }
    await sleep(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function isReachable(servers: readonly string[]): Promise<boolean> {
  const reached = await Promise.all(servers.map((server) => canConnect(new URL(server)).catch(() => false)));
  return reached.includes(true);
}

/** A bare TCP connect, which no release gets wrong. */
function canConnect({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || 4222,
      timeout: REACH_TIMEOUT_MS,
    });
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}
