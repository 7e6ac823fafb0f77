// Finds the process that uses a port, from /proc, to name it in "address already in use" errors.
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';

/** Whether this process could listen there. */
export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** For example "nginx (pid 812: nginx: master process …)". Null for another user's process. */
export async function holderOf(port: number): Promise<string | null> {
  const sockets = await socketsOn(port);
  if (sockets.size === 0) return null;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await holdsAny(pid, sockets))) continue;
    const [program, command] = await Promise.all([
      readlink(`/proc/${pid}/exe`).catch(() => '?'),
      readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    ]);
    return `${path.basename(program)} (pid ${pid}: ${command.replaceAll('\0', ' ').trim().slice(0, 120)})`;
  }
  return null;
}

/** Includes outgoing connections from the port, which also prevent others from listening on it. */
async function socketsOn(port: number): Promise<Set<string>> {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'utf8').catch(() => '');
    for (const row of text.split('\n').slice(1)) {
      const [, local = '', , , , , , , , inode = '0'] = row.trim().split(/\s+/);
      if (inode !== '0' && local.endsWith(`:${hexPort}`)) inodes.add(`socket:[${inode}]`);
    }
  }
  return inodes;
}

async function holdsAny(pid: string, sockets: Set<string>): Promise<boolean> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const file of files) {
    const target = await readlink(`/proc/${pid}/fd/${file}`).catch(() => '');
    if (sockets.has(target)) return true;
  }
  return false;
}
