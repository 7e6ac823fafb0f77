// Stops the processes of a killed run before the next one starts. They are found by pid files and process identity.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { identify, isRunning, readIdentity, stopLeftover, stopProcess } from '../services/program.ts';
import { Trouble } from '../steps.mjs';
import type { Folders } from './folders.ts';

/** All programs of the quick start in stop order: dependents first. */
export const programs = ['console', 'agent', 'api', 'origin', 'nats', 'postgres'];

/**
 * Makes this process the owner of the data, and waits for a run that is shutting down. Returns how to announce the end.
 */
export async function takeOver({ run }: Folders): Promise<() => Promise<void>> {
  const lock = path.join(run, 'quickstart.pid');
  const stopping = `${lock}.stopping`;
  const askedAt = Date.now();
  for (;;) {
    const other = await readIdentity(lock);
    if (other === null || !(await isRunning(other))) break;
    const isStopping = (await readFile(stopping).catch(() => null)) !== null;
    // The other run may be about to stop, because its npm was killed a moment ago.
    if (Date.now() - askedAt > (isStopping ? 25_000 : 2000)) {
      throw new Trouble(
        `Already running on this data, as process ${other.pid}. Stop that first, or set EDGELOOM_DATA.`,
      );
    }
    await setTimeout(100);
  }
  await mkdir(run, { recursive: true });
  await rm(stopping, { force: true });
  await writeFile(lock, JSON.stringify(await identify(process.pid)));
  return () => writeFile(stopping, '');
}

/** Returns the names of the programs that were running. */
export async function stopLeftovers(folders: Folders): Promise<string[]> {
  const found: string[] = [];
  for (const name of programs) {
    const stopSignal = name === 'postgres' ? 'SIGINT' : 'SIGTERM';
    if ((await stopLeftover({ name, stopSignal, stopWithinMs: 15_000 }, folders.run)) !== null) found.push(name);
  }
  for (const edge of [folders.edge, path.join(folders.edge, 'forwards')])
    if (await stopNginx(edge)) found.push('nginx');
  return found;
}

/** The demo node's nginx outlives a killed agent. Its arguments contain its directory. */
async function stopNginx(edge: string): Promise<boolean> {
  const text = await readFile(path.join(edge, 'run/nginx.pid'), 'utf8').catch(() => '');
  const pid = Number(text.trim());
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const [identity, command] = await Promise.all([
    identify(pid),
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
  ]);
  if (identity === null || !command.includes('nginx') || !command.includes(edge)) return false;
  await stopProcess(identity, 'SIGTERM', 10_000);
  return true;
}
