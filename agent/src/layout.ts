// The node's directory: what lies where, and who may read it.
import { chmod, chown, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** What belongs to one nginx. */
export interface NginxLayout {
  dir: string;
  conf: string;
  run: string;
  logs: string;
  pidFile: string;
  errorLog: string;
}

export interface Layout extends NginxLayout {
  docs: string;
  keys: string;
  cache: string;
  tmp: string;
  adminSocket: string;
  /** Where requests come that nobody made. */
  simulateSocket: string;
  /** The second nginx, which forwards ports: a folder of its own, so that neither is taken for the other. */
  forwards: NginxLayout;
}

/** Whom nginx's workers run as, when nginx is started as root. */
export interface Workers {
  user: string;
  uid: number;
  gid: number;
}

export const layoutOf = (dir: string): Layout => ({
  ...nginxLayoutOf(dir),
  docs: path.join(dir, 'docs'),
  keys: path.join(dir, 'keys'),
  cache: path.join(dir, 'cache'),
  tmp: path.join(dir, 'tmp'),
  adminSocket: path.join(dir, 'run/admin.sock'),
  simulateSocket: path.join(dir, 'run/simulate.sock'),
  forwards: nginxLayoutOf(path.join(dir, 'forwards')),
});

const nginxLayoutOf = (dir: string): NginxLayout => ({
  dir,
  conf: path.join(dir, 'conf'),
  run: path.join(dir, 'run'),
  logs: path.join(dir, 'logs'),
  pidFile: path.join(dir, 'run/nginx.pid'),
  errorLog: path.join(dir, 'logs/error.log'),
});

/** The directory by its real name: nginx shows it in its arguments, by which a running one is recognised. */
export async function openLayout(dir: string): Promise<Layout> {
  // What lies above it is passed by nginx's workers.
  await mkdir(path.dirname(dir), { recursive: true, mode: 0o755 });
  await mkdir(dir, { recursive: true, mode: 0o750 });
  return layoutOf(await realpath(dir));
}

/** Workers read documents and write their cache, temporary files and logs; keys are root's alone. */
export async function prepareLayout(layout: Layout, workers: Workers | null): Promise<void> {
  // Setgid: what is made in docs later belongs to the workers' group without a chown for each file.
  const folders: [string, number, 'read' | 'write' | 'none'][] = [
    [layout.dir, 0o750, 'read'],
    [layout.docs, 0o2750, 'read'],
    [layout.conf, 0o750, 'read'],
    [layout.run, 0o750, 'read'],
    [layout.keys, 0o700, 'none'],
    [layout.logs, 0o750, 'write'],
    [layout.cache, 0o750, 'write'],
    [layout.tmp, 0o750, 'write'],
    [layout.forwards.dir, 0o750, 'read'],
    [layout.forwards.conf, 0o750, 'read'],
    [layout.forwards.run, 0o750, 'read'],
    [layout.forwards.logs, 0o750, 'write'],
  ];
  for (const [folder, mode, access] of folders) {
    await mkdir(folder, { recursive: true });
    if (workers !== null && access !== 'none') await chown(folder, access === 'write' ? workers.uid : 0, workers.gid);
    // After chown, which clears the setgid bit.
    await chmod(folder, mode);
    // The kernel takes the bit away without a word from whoever lacks CAP_FSETID, and workers would see no document.
    if (((await stat(folder)).mode & 0o7777) !== mode)
      throw new Error(`${folder} did not take the mode ${mode.toString(8)}`);
  }
  const closed = workers === null ? null : await impassable(layout.dir, workers);
  if (closed !== null)
    throw new Error(
      `nginx's workers run as ${workers?.user}, which may not enter ${closed}: set EDGELOOM_DIR elsewhere`,
    );
}

/** The folder above that workers may not enter, if there is one. */
export async function impassable(dir: string, workers: Workers): Promise<string | null> {
  for (let at = path.dirname(dir); at !== path.dirname(at); at = path.dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const bit = uid === workers.uid ? 0o100 : gid === workers.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return at;
  }
  return null;
}
