import { readFile } from 'node:fs/promises';
import { eventually } from '../support/assertions/eventually.ts';

/** User and system time. A tick is 10 ms on Linux. */
export async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** The first worker of an nginx master. */
export async function workerOf(master: number): Promise<number> {
  return eventually(async () => {
    const children = (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).trim().split(' ');
    for (const pid of children)
      if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('worker process')) return Number(pid);
    throw new Error(`no worker of ${master}`);
  });
}
