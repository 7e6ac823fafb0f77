// The agent in its monitor role: checks nodes from outside. It has no nginx, no documents and no zone.
import { setTimeout } from 'node:timers/promises';
import type { Env } from '../env.ts';
import { openLayout } from '../layout.ts';
import { JoinRefusedError } from '../link/join.ts';
import { lockDirectory } from '../lock.ts';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import { checkNode } from './check-node.ts';
import { joinAsMonitor, readMonitorIdentity, type MonitorIdentity } from './identity.ts';
import { NodeChecks } from './node-checks.ts';
import { Reporter } from './reporter.ts';

const JOIN_RETRY_MS = 5000;

export interface RunningMonitor {
  /** Rejects when the control plane refuses the machine. Retrying cannot help. */
  refused: Promise<never>;
  stop: () => Promise<void>;
}

/** Joining and connecting continue in the background. */
export async function startMonitor(env: Env, log: Log): Promise<RunningMonitor> {
  const { dir } = await openLayout(env.EDGELOOM_DIR);
  const unlock = await lockDirectory(dir);
  const stopping = new AbortController();
  const started = start(env, dir, stopping.signal, log);
  return {
    refused: started.then(() => new Promise<never>(() => undefined)),
    async stop() {
      stopping.abort();
      const running = await started.catch(() => null);
      await running?.checks.stop();
      await running?.reporter.stop();
      unlock();
    },
  };
}

/** Null when the agent stops first. */
async function start(env: Env, dir: string, signal: AbortSignal, log: Log) {
  const identity = (await readMonitorIdentity(dir)) ?? (await joinUntilAccepted(env, dir, signal, log));
  if (identity === null) return null;
  const checks = new NodeChecks({ checkNode, onResult: (result, isNew) => reporter.add(result, isNew), log });
  const reporter = new Reporter(identity, (wanted) => checks.follow(wanted), log);
  return { checks, reporter };
}

async function joinUntilAccepted(
  { EDGELOOM_CONTROL: control, EDGELOOM_TOKEN: token }: Env,
  dir: string,
  signal: AbortSignal,
  log: Log,
): Promise<MonitorIdentity | null> {
  if (control === undefined || token === undefined)
    throw new Error('this monitor has not joined: EDGELOOM_CONTROL and EDGELOOM_TOKEN are needed');
  while (!signal.aborted) {
    try {
      const identity = await joinAsMonitor(dir, { control, token, version }, signal);
      log.info('joined as a monitor', { nodeID: identity.nodeID });
      return identity;
    } catch (error) {
      if (error instanceof JoinRefusedError)
        throw new Error(`the control plane refused this monitor: ${error.message}`, { cause: error });
      log.warn('could not join yet', { error });
      await setTimeout(JOIN_RETRY_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}
