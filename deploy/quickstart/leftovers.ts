// What a killed run leaves behind is stopped before the next one starts, found by pid files and by what the process is.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { identify, isRunning, readIdentity, stopLeftover, stopProcess } from '../services/program.ts';
import { Trouble } from '../steps.mjs';
import type { Folders } from './folders.ts';

/** All that the quick start runs, in the order in which it is stopped: nobody loses what he leans on. */
export const programs = ['console', 'agent', 'api', 'origin', 'nats', 'postgres'];

/** Makes this process the one that runs on this data, and answers how to announce its end. A run that is just ending is
 *  waited for. */
export async function takeOver({ run }: Folders): Promise<() => Promise<void>> {
  const lock = path.join(run, 'quickstart.pid');
  const stopping = `${lock}.stopping`;
  const askedAt = Date.now();
  for (;;) {
    const other = await readIdentity(lock);
    if (other === null || !(await isRunning(other))) break;
    const isStopping = (await readFile(stopping).catch(() => null)) !== null;
    // One that is not stopping may be about to: its npm was killed a moment ago, and it has not noticed yet.
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

/** Answers the names of what was found running. */
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

/** The demo node's nginx outlives an agent that was killed. It shows its directory in its arguments. */
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
