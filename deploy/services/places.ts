// Where files lie that a program reads as somebody else than root: PostgreSQL and nginx's workers. A checkout below root's
// home (0700) is out of their sight, so what they need goes to a folder of the system instead.
import { createHash } from 'node:crypto';
import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Whether somebody who is neither the owner nor in the group may go through every folder down to this one. */
export async function canPass(folder: string): Promise<boolean> {
  for (let at = await realpath(folder); ; at = path.dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

const base = '/var/lib/edgeloom-quickstart';

/** The same for the same folder at every start. */
export const elsewhereFor = (folder: string) =>
  path.join(base, createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 12));

/** Makes it passable, whatever the umask. */
export async function openElsewhere(folder: string): Promise<string> {
  const elsewhere = elsewhereFor(folder);
  for (const place of [base, elsewhere]) {
    await mkdir(place, { recursive: true });
    await chmod(place, 0o755);
  }
  return elsewhere;
}
