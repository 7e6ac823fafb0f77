// Which processes are nginx's, told by /proc. A pid alone may belong to somebody else by the time it is used.
import { readdir, readFile } from 'node:fs/promises';

export interface Process {
  pid: number;
  startedAtTick: string;
  session: number;
}

/** Null when there is no such process, or only its remains. */
export async function findProcess(pid: number): Promise<Process | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is the program's name in parentheses and may hold anything; what follows is regular.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, , , session] = fields;
  const startedAtTick = fields[19];
  if (session === undefined || startedAtTick === undefined || state === 'Z' || state === 'X') return null;
  return { pid, startedAtTick, session: Number(session) };
}

export async function isRunning(process: Process): Promise<boolean> {
  return (await findProcess(process.pid))?.startedAtTick === process.startedAtTick;
}

export const titleOf = (pid: number): Promise<string> =>
  readFile(`/proc/${pid}/cmdline`, 'utf8').then(
    (text) => text.replaceAll('\0', ' ').trim(),
    () => '',
  );

/** Workers of a master that was killed: they go on holding its ports. They share the session it began. */
export async function findOrphans(master: number): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const process = await findProcess(pid);
      if (process === null || process.session !== master || pid === master) return null;
      return (await titleOf(pid)).startsWith('nginx: ') ? process : null;
    }),
  );
  return found.filter((process) => process !== null);
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone between the look and the signal.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
