// Finds nginx processes in /proc. A pid alone may have been reused.
import { readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';

export interface Process {
  pid: number;
  startedAtTick: string;
}

/** Null when the process is gone or a zombie. */
export async function findProcess(pid: number): Promise<Process | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is the program's name in parentheses and may contain anything. The rest is regular.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const startedAtTick = fields[19];
  if (startedAtTick === undefined || state === 'Z' || state === 'X') return null;
  return { pid, startedAtTick };
}

/** Whether a signal or a debugger stopped it. */
export const isStopped = async (pid: number): Promise<boolean> => /^[Tt] /.test(await readState(pid));

/** Whether it computes, or waits for a processor. */
export const isRunnable = async (pid: number): Promise<boolean> => (await readState(pid)).startsWith('R ');

/** The fields of proc(5)'s stat from the state on; empty when the process is gone. */
async function readState(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2);
}

/** Processor time that a process has used, in clock ticks of 10 ms; 0 when it is gone. */
export async function readCpuTicks(pid: number): Promise<number> {
  const [userTicks = 0, systemTicks = 0] = (await readState(pid)).split(' ').slice(11, 13).map(Number);
  return userTicks + systemTicks;
}

export async function isRunning(process: Process): Promise<boolean> {
  return (await findProcess(process.pid))?.startedAtTick === process.startedAtTick;
}

/**
 * Files of a folder that processes with this working directory, such as nginx, have open for writing. An agent without
 * root does not see those of other users.
 */
export async function findFilesInUse(workingDir: string, folder: string): Promise<Set<string>> {
  const pids = await findPids(workingDir);
  const files = await Promise.all(
    pids.map(async (pid) => {
      const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
      return Promise.all(
        descriptors.map(async (fd) => {
          const file = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
          if (path.dirname(file) !== folder) return [];
          return isWritable(await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(() => '')) ? [file] : [];
        }),
      );
    }),
  );
  return new Set(files.flat(2));
}

/** The octal flags of proc(5)'s fdinfo end with open(2)'s O_WRONLY (1) or O_RDWR (2). */
const isWritable = (info: string): boolean => /^flags:\s*\d*[12]$/m.test(info);

/** Every serving nginx process of this directory, masters and workers. */
export async function findNginx(dir: string): Promise<(Process & { title: string })[]> {
  return (await findAnyNginx(dir)).filter(({ title }) => title.startsWith('nginx: '));
}

/** Includes processes that are starting or testing a tree, which have no title yet. */
export async function findAnyNginx(dir: string): Promise<(Process & { title: string })[]> {
  const found = await Promise.all(
    (await findPids(dir)).map(async (pid) => {
      const [process, title] = await Promise.all([findProcess(pid), titleOf(pid)]);
      const isNginx = title.startsWith('nginx: ') || title.includes(` -p ${dir} `);
      return process !== null && isNginx ? { ...process, title } : null;
    }),
  );
  return found.filter((process) => process !== null);
}

async function findPids(workingDir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const dirs = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)));
  return pids.filter((_, i) => dirs[i] === workingDir);
}

const isServing = (title: string) => title.startsWith('nginx: worker process') && !title.includes('shutting down');

/** The workers of this directory, by whether they accept connections. */
export async function findWorkers(dir: string): Promise<{ draining: Process[]; serving: Process[] }> {
  const workers = (await findNginx(dir)).filter(({ title }) => title.startsWith('nginx: worker process'));
  return {
    draining: workers.filter(({ title }) => !isServing(title)),
    serving: workers.filter(({ title }) => isServing(title)),
  };
}

/** The workers of this directory that accept connections. */
export const servingWorkers = async (dir: string): Promise<Process[]> => (await findWorkers(dir)).serving;

/** nginx stops its old workers 100 ms after it has started new ones. A busy one stops later. */
const STOP_TIMEOUT_MS = 2000;
const CHECK_INTERVAL_MS = 10;

/** Waits until replaced workers accept no more connections, but not for a stuck one. */
export async function untilNotServing(workers: readonly Process[]): Promise<void> {
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  for (const worker of workers)
    while (performance.now() < deadline && isServing(await titleOf(worker.pid)) && (await isRunning(worker)))
      await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS));
}

/** A process's title. nginx shows its arguments there. */
export const titleOf = (pid: number): Promise<string> =>
  readFile(`/proc/${pid}/cmdline`, 'utf8').then(
    (text) => text.replaceAll('\0', ' ').trim(),
    () => '',
  );

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process ended before the signal.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
