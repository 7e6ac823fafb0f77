// Stops programs that a killed run or a failed test left behind: those in a test folder (test-dir.ts) whose owner is
// gone.
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { identify, isRunning, readIdentity, stopProcess } from '../../../deploy/services/program.ts';

export const TEST_DIR_PREFIX = 'edgeloom-test-';
export const ownerFile = (dir: string) => path.join(dir, 'owner.pid');

/** Kills these processes by pid and deletes their folders. */
export async function stopOrphanedProcesses(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(TEST_DIR_PREFIX)) continue;
    const dir = path.join(tmpdir(), name);
    const owner = await readIdentity(ownerFile(dir));
    // A folder without an owner file is just being created.
    if (owner === null || (await isRunning(owner))) continue;
    const left = await Promise.all((await processesOf(dir)).map(identify));
    await Promise.all(left.map(async (one) => one && stopProcess(one, 'SIGINT', 5000)));
    // Two vitest projects may clean up at the same time.
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Processes with the folder in their arguments or environment. */
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
