// Files of backups. A file has its name only once it is whole; until then it ends with `.part`.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { DbBackupFile } from '@edgeloom/contract/db-backup/db-backup.ts';

const pattern = /^edgeloom-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.dump$/;

export const backupName = (at: Date) => `edgeloom-${at.toISOString().replace(/[-:]|\.\d+/g, '')}.dump`;
export const partName = (name: string) => `${name}.${randomUUID()}.part`;
const isPart = (name: string) => name.startsWith('edgeloom-') && name.endsWith('.part');

/** Creates the folder, and writes and removes a file in it. */
export async function assertWritable(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const probe = path.join(folder, partName('edgeloom-test'));
  const file = await open(probe, 'wx', 0o600);
  try {
    await file.writeFile('test');
    await file.sync();
  } finally {
    await file.close();
    await rm(probe, { force: true });
  }
}

/** The whole files, the newest first. A folder that does not exist has none. */
export async function listBackups(folder: string): Promise<DbBackupFile[]> {
  const names = (await namesIn(folder)).filter((name) => pattern.test(name)).toSorted();
  const files = await Promise.all(
    names.toReversed().map(async (name) => {
      // Another process may delete the file meanwhile.
      const found = await stat(path.join(folder, name)).catch(ifMissing);
      const createdAt = new Date(name.replace(pattern, '$1-$2-$3T$4:$5:$6Z'));
      return found ? [{ name, bytes: found.size, createdAt }] : [];
    }),
  );
  return files.flat();
}

/** Removes what killed backups left. Only the holder of the lease may call it. */
export async function removeParts(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) if (isPart(name)) await rm(path.join(folder, name), { force: true });
}

/** Gives a whole file its name, and stores that the folder has it. */
export async function publishBackup(folder: string, part: string, name: string): Promise<void> {
  await rename(path.join(folder, part), path.join(folder, name));
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function removeOldBackups(folder: string, retention: number): Promise<void> {
  for (const { name } of (await listBackups(folder)).slice(retention))
    await rm(path.join(folder, name), { force: true });
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(ifMissing)) ?? [];

function ifMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
