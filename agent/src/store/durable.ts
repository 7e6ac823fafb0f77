// Makes file changes survive a power failure.
import { execFile } from 'node:child_process';
import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Above this number of files, one flush of the whole file system is cheaper. */
const FLUSH_ALL_ABOVE = 16;

export async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Flushes files or folders, which must lie on one file system. */
export async function flushAll(files: readonly string[]): Promise<void> {
  const [first] = files;
  if (first === undefined) return;
  if (files.length > FLUSH_ALL_ABOVE) {
    const done = await run('sync', ['-f', first]).then(
      () => true,
      // Not available in busybox: flush one by one.
      () => false,
    );
    if (done) return;
  }
  await Promise.all(files.map(flush));
}

/** Writes a file atomically. */
export async function writeWhole(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', mode);
  try {
    // open's mode applies to new files only.
    await handle.chmod(mode);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
  await flush(path.dirname(file));
}
