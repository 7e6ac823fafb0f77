// The node's directory: its folders and their permissions.
import { chmod, chown, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** The paths of one nginx. */
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
  /** The socket for simulated requests. */
  simulateSocket: string;
  /** The folder of the second nginx, which forwards ports. */
  forwards: NginxLayout;
}

/** The user of nginx's workers when nginx starts as root. */
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

/** Resolves links, since a running nginx is recognised by the path in its arguments. */
export async function openLayout(dir: string): Promise<Layout> {
  // Workers traverse the parent folder.
  await mkdir(path.dirname(dir), { recursive: true, mode: 0o755 });
  await mkdir(dir, { recursive: true, mode: 0o750 });
  return layoutOf(await realpath(dir));
}

/** Workers read documents and write cache, temporary files and logs. Keys are readable by root only. */
export async function prepareLayout(layout: Layout, workers: Workers | null): Promise<void> {
  // Setgid gives new files in docs the workers' group without a chown each.
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
    // Without CAP_FSETID the kernel drops the bit silently, and workers could not read documents.
    if (((await stat(folder)).mode & 0o7777) !== mode)
      throw new Error(`${folder} did not take the mode ${mode.toString(8)}`);
  }
  const closed = workers === null ? null : await findImpassableFolder(layout.dir, workers);
  if (closed !== null)
    throw new Error(
      `nginx's workers run as ${workers?.user}, which may not enter ${closed}: set EDGELOOM_DIR elsewhere`,
    );
}

/** The first parent folder that workers may not enter, if any. */
export async function findImpassableFolder(dir: string, workers: Workers): Promise<string | null> {
  for (let at = path.dirname(dir); at !== path.dirname(at); at = path.dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const bit = uid === workers.uid ? 0o100 : gid === workers.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return at;
  }
  return null;
}
