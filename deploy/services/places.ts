// Places for files of programs that do not run as root: PostgreSQL and nginx's workers. They cannot read a checkout
// below root's home (0700), so their files go to a system folder.
import { createHash } from 'node:crypto';
import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Whether other users may pass every folder down to this one. */
export async function canPass(folder: string): Promise<boolean> {
  for (let at = await realpath(folder); ; at = path.dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

const base = '/var/lib/edgeloom-quickstart';

/** Deterministic for a folder. */
export const elsewhereFor = (folder: string) =>
  path.join(base, createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 12));

/** Creates the folder, passable whatever the umask. */
export async function openElsewhere(folder: string): Promise<string> {
  const elsewhere = elsewhereFor(folder);
  for (const place of [base, elsewhere]) {
    await mkdir(place, { recursive: true });
    await chmod(place, 0o755);
  }
  return elsewhere;
}
