// Unpacks an archive with the library that npm uses. Archives are signed, and checked all the same: only files and
// folders are accepted, none of them outside the target.
import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { extract, list } from 'tar';
import type { ReadEntry } from 'tar';

const MAX_BYTES = 4e9;
const MAX_ENTRIES = 100_000;
const kinds = new Set(['File', 'OldFile', 'Directory']);

/** Returns the files. */
export async function unpack(archive: string, into: string): Promise<string[]> {
  const files: string[] = [];
  const faults: string[] = [];
  let bytes = 0;
  let entries = 0;
  const onReadEntry = (entry: ReadEntry) => {
    const fault = faultOf(entry);
    if (fault !== null) faults.push(fault);
    bytes += entry.size;
    entries += 1;
    if (entry.type !== 'Directory' && entries <= MAX_ENTRIES) files.push(entry.path);
  };
  await list({ file: archive, strict: true, onReadEntry });
  const [first] = faults;
  if (first !== undefined) throw new Error(first);
  if (bytes > MAX_BYTES || entries > MAX_ENTRIES) throw new Error('the archive is too large');
  await extract({ file: archive, cwd: into, strict: true, preserveOwner: false });
  await openToAll(into);
  return files;
}

/** nginx's workers read the files, whatever our umask. */
async function openToAll(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const at = path.join(dir, entry.name);
    if (entry.isDirectory()) await openToAll(at);
    else await chmod(at, ((await stat(at)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function faultOf({ path: name, type }: ReadEntry): string | null {
  if (!kinds.has(type)) return `the archive contains ${name}, a ${type}: only files and folders are allowed`;
  return name.startsWith('/') || name.split('/').includes('..')
    ? `a path in the archive leaves its folder: ${name}`
    : null;
}
