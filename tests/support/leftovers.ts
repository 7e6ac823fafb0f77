// What a run leaves behind that was killed, or of which a test failed before it had stopped what it started: programs that
// work in a folder of ours (test-dir.ts) whose owner is gone.
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify, isRunning, readIdentity, stopProcess } from '../../deploy/services/program.ts';

export const prefix = 'edgeloom-test-';
export const ownerFile = (dir: string) => path.join(dir, 'owner.pid');

/** Ends them, each by its pid, and takes their folders away. */
export async function endLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const dir = path.join(tmpdir(), name);
    const owner = await readIdentity(ownerFile(dir));
    // No owner yet: somebody is just beginning.
    if (owner === null || (await isRunning(owner))) continue;
    const left = await Promise.all((await processesOf(dir)).map(identify));
    await Promise.all(left.map(async (one) => one && stopProcess(one, 'SIGINT', 5000)));
    // Projects that end together meet here.
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Every process that has the folder in its arguments or its environment. */
export async function processesOf(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found: number[] = [];
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (environment.includes(folder) || command.includes(folder)) found.push(pid);
  }
  return found;
}
