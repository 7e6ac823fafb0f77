// The Docker daemon of a long test run, started when none runs. Its images stay in its folder for the next run.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withMachineLock } from '../../../deploy/machine-lock.mjs';
import { findProgram, launch, stopLeftover, type Running } from '../../../deploy/services/program.ts';

const run = promisify(execFile);
const START_TIMEOUT_MS = 120_000;
const POLL_INTERVAL_MS = 200;

/**
 * A checkout's daemon shares nothing with those of others. On one bridge, two daemons would give one address to two
 * containers, and the first to end would delete the bridge.
 */
export function daemonPlaces(folder: string): { runDir: string; host: string; bridge: string } {
  const id = createHash('sha256').update(folder).digest('hex').slice(0, 8);
  // Paths of sockets are limited to 107 bytes, and a checkout may be deep. Names of interfaces are limited to 15 bytes.
  const runDir = path.join(tmpdir(), `edgeloom-docker-${id}`);
  return { runDir, host: `unix://${path.join(runDir, 'docker.sock')}`, bridge: `br-el-${id}` };
}

/** Whether a daemon answers at DOCKER_HOST, or at Docker's default socket. */
export const hasDocker = (): Promise<boolean> =>
  run('docker', ['version'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );

/**
 * Starts a daemon if none answers, and sets DOCKER_HOST for this process and those it starts. `onWait` is called if
 * another checkout starts one at this moment, under the same lock.
 * @returns a function that stops the daemon.
 */
export async function ensureDocker(
  folder: string,
  onWait: () => void,
  lockName = 'docker',
): Promise<() => Promise<void>> {
  if (await hasDocker()) return async () => undefined;
  const dockerd = await findProgram('dockerd');
  if (dockerd === null) throw new Error('dockerd is missing: apt-get install docker.io');
  if (process.getuid?.() !== 0) throw new Error('no Docker daemon runs, and only root can start one');

  // Before the first of two daemons has given its bridge a network, the second would choose the same one.
  const stop = await withMachineLock(lockName, () => startDaemon(dockerd, folder), onWait);
  try {
    await removeLeftovers();
  } catch (error) {
    await stop();
    throw error;
  }
  return async () => {
    try {
      await removeLeftovers();
    } finally {
      await stop();
    }
  };
}

/**
 * Resolves when the daemon answers.
 * @returns a function that stops it.
 */
async function startDaemon(dockerd: string, folder: string): Promise<() => Promise<void>> {
  const { runDir, host, bridge } = daemonPlaces(folder);
  await mkdir(runDir, { recursive: true });
  // The daemon's rules would drop packets that tests forward between network namespaces.
  const options = ['--iptables=false', '--bridge', bridge, '--host', host, '--data-root', path.join(folder, 'data')];
  const places = ['--exec-root', path.join(runDir, 'exec'), '--pidfile', path.join(runDir, 'pid')];
  const program = {
    name: 'dockerd',
    command: 'setpriv',
    // The daemon stops when this process ends in any way.
    args: ['--pdeathsig', 'TERM', dockerd, ...options, ...places],
    stopSignal: 'SIGTERM' as const,
    stopWithinMs: 60_000,
  };
  await stopLeftover(program, folder);
  // A killed run leaves the bridge behind. The daemon gives it a network that is free.
  await deleteBridge(bridge);
  await run('ip', ['link', 'add', 'name', bridge, 'type', 'bridge']);
  const daemon = await launch(program, { runDir: folder, logDir: folder });
  const stop = async () => {
    await daemon.stop();
    await deleteBridge(bridge);
    await rm(runDir, { recursive: true, force: true });
  };
  process.env['DOCKER_HOST'] = host;
  try {
    await untilItAnswers(daemon);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilItAnswers(daemon: Running) {
  let hasExited = false;
  void daemon.exited.then(() => (hasExited = true));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await hasDocker())) {
    if (hasExited || Date.now() > deadline)
      throw new Error(`dockerd did not start:\n${(await readFile(daemon.logFile, 'utf8')).slice(-2000)}`);
    await setTimeout(POLL_INTERVAL_MS);
  }
}

const deleteBridge = (name: string) => run('ip', ['link', 'delete', name]).catch(() => undefined);

/** Removes all but the base images, also those of killed runs, whose machines under systemd would start again. */
async function removeLeftovers() {
  const containers = await list('ps', '--all', '--quiet');
  if (containers.length > 0) await run('docker', ['rm', '--force', '--volumes', ...containers]);
  const images = await list('images', '--quiet', '--filter', 'reference=edgeloomtest*');
  if (images.length > 0) await run('docker', ['image', 'rm', '--force', ...new Set(images)]);
  for (const kind of ['network', 'volume', 'image']) await run('docker', [kind, 'prune', '--force']);
}

const list = async (...args: string[]) => (await run('docker', args)).stdout.split('\n').filter(Boolean);
